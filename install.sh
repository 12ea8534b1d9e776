#!/bin/sh
# Builds thru from this checkout, installs it for this user, and sets up a project.
#
#   ./install.sh [PROJECT]          PROJECT is the current folder unless said
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
find_cargo || exit 1
add_musl

bin_dir=${THROUGHLINE_BIN_DIR:-$HOME/.local/bin}
case "${CARGO_TARGET_DIR-}" in
'') CARGO_TARGET_DIR=$here/target ;;
/*) ;;
*) CARGO_TARGET_DIR=$(pwd)/$CARGO_TARGET_DIR ;;
esac
export CARGO_TARGET_DIR
echo "Building thru (a minute or two the first time) ..."
(cd "$here" && cargo xtask dist)
built=$CARGO_TARGET_DIR/dist/thru

# Into place by rename: a hook may be running the old one at this moment.
mkdir -p "$bin_dir"
temporary="$bin_dir/.thru.$$"
trap 'rm -f "$temporary"' EXIT
cp "$built" "$temporary"
chmod 755 "$temporary"
mv -f "$temporary" "$bin_dir/thru"
trap - EXIT
echo "Installed $("$bin_dir/thru" --version) as $bin_dir/thru"

case ":$PATH:" in
*":$bin_dir:"*) ;;
*)
    echo
    echo "$bin_dir is not on your PATH. To put it there, add this line to your shell's profile:"
    echo "    export PATH=\"$bin_dir:\$PATH\""
    ;;
esac

echo
echo "Setting up $project"
cd -- "$project"
"$bin_dir/thru" init
echo
"$bin_dir/thru" status
