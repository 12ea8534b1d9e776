#!/bin/sh
# Installs thru for this user, and sets up a project. If there is an archive for this machine in ./dist or next to this
# script (thru-VERSION-TARGET.tar.gz with SHA256SUMS, as written by `cargo xtask dist --all`), it is used. Otherwise
# thru is built.
#
#   ./install.sh [PROJECT]          PROJECT is the current folder by default
#   THROUGHLINE_BIN_DIR=DIR         where the binary goes (default: ~/.local/bin)
set -eu

case "${1-}" in
-h | --help)
    sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p;}' "$0"
    exit 0
    ;;
esac

project=${1:-.}
if ! project=$(CDPATH='' cd -- "$project" 2>/dev/null && pwd); then
    echo "error: no such folder: $1" >&2
    exit 1
fi
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

. "$here/scripts/toolchain.sh"
bin_dir=${THROUGHLINE_BIN_DIR:-$HOME/.local/bin}
unpacked=
temporary=
trap 'rm -rf "$unpacked" "$temporary"' EXIT

# Unpacks the newest archive for this machine and sets `built`, if there is an archive. A missing or wrong checksum is
# an error, and thru is not built instead.
from_archive() {
    target=$(archive_target)
    [ -n "$target" ] || return 0
    for folder in "$here/dist" "$here"; do
        archive=
        for found in "$folder"/thru-*-"$target".tar.gz; do
            [ ! -f "$found" ] || [ -L "$found" ] || archive=$found
        done
        [ -n "$archive" ] || continue
        name=$(basename -- "$archive")
        expected=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }' "$folder/SHA256SUMS" 2>/dev/null) || expected=
        if [ -z "$expected" ]; then
            echo "error: $folder/SHA256SUMS contains no checksum for $archive" >&2
            echo "hint: put SHA256SUMS next to the archive, or remove the archive to build thru instead" >&2
            exit 1
        fi
        if [ "$(sha256_of "$archive")" != "$expected" ]; then
            echo "error: the checksum of $archive does not match SHA256SUMS: the archive is damaged or was replaced" >&2
            echo "hint: download both files again, or remove the archive to build thru instead" >&2
            exit 1
        fi
        echo "Unpacking $name (its checksum is correct) ..."
        unpacked=$(mktemp -d)
        tar -xzf "$archive" -C "$unpacked"
        built=$unpacked/${name%.tar.gz}/thru
        return 0
    done
}

built=
from_archive
if [ -z "$built" ]; then
    find_cargo || exit 1
    add_musl
    case "${CARGO_TARGET_DIR-}" in
    '') CARGO_TARGET_DIR=$here/target ;;
    /*) ;;
    *) CARGO_TARGET_DIR=$(pwd)/$CARGO_TARGET_DIR ;;
    esac
    export CARGO_TARGET_DIR
    echo "Building thru (this takes a minute or two the first time) ..."
    (cd "$here" && cargo xtask dist)
    built=$CARGO_TARGET_DIR/dist/thru
fi

# Replace the binary with a rename, because a hook may be running the old binary at this moment.
mkdir -p "$bin_dir"
temporary="$bin_dir/.thru.$$"
cp "$built" "$temporary"
chmod 755 "$temporary"
mv -f "$temporary" "$bin_dir/thru"
rm -rf "$unpacked"
echo "Installed $("$bin_dir/thru" --version) as $bin_dir/thru"

case ":$PATH:" in
*":$bin_dir:"*) ;;
*)
    echo
    echo "$bin_dir is not on your PATH. To add it, put this line into your shell's profile:"
    echo "    export PATH=\"$bin_dir:\$PATH\""
    ;;
esac

echo
echo "Setting up $project"
cd -- "$project"
# If init cannot install hooks, its last lines say why and what to do, so nothing is printed after them.
"$bin_dir/thru" init || exit
echo
"$bin_dir/thru" status
