#!/bin/sh
# Installs the real harnesses the end-to-end tests drive, at fixed versions, from npm. Installs nothing globally and runs nothing.
#
#   scripts/harnesses.sh [DIR]        DIR is target/harnesses unless given
#
# Existing ones are left alone. Prints one line for each, in the form that the tests read:
#   THRU_CLAUDE=/…/claude        THRU_DROID=/…/droid        THRU_OPENCODE=/…/opencode
# Exits with 1 if one is missing, with the reason on stderr.
set -eu

CLAUDE_VERSION=2.1.325
DROID_VERSION=0.225.2
# Available for more machines than the newer version, whose platform packages are not all in the registry.
DROID_OLDER_VERSION=0.215.0
OPENCODE_VERSION=1.18.33

here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
dir=${1:-$here/target/harnesses}

main() {
    case "$(uname -s)" in
        Linux) system=linux ;;
        Darwin) system=darwin ;;
        *) fail "no harness for $(uname -s): Linux and macOS only" ;;
    esac
    case "$(uname -m)" in
        x86_64 | amd64) machine=x64 ;;
        aarch64 | arm64) machine=arm64 ;;
        *) fail "no harness for $(uname -m): x86-64 and arm64 only" ;;
    esac
    platform=$system-$machine
    older=
    if [ "$platform" = linux-x64 ] && ! grep -q avx2 /proc/cpuinfo; then older=-baseline; fi
    mkdir -p "$dir"
    dir=$(CDPATH='' cd -- "$dir" && pwd)

    status=0
    npm=$(command -v npm) || npm=
    provide THRU_CLAUDE claude "@anthropic-ai/claude-code@$CLAUDE_VERSION" \
        "@anthropic-ai/claude-code-$platform/claude" || status=1
    # The platform package by itself: the package that chooses between platforms asks for a version that does not exist.
    provide THRU_DROID droid "@factory/cli-$platform@$DROID_VERSION" "@factory/cli-$platform/bin/droid" ||
        provide THRU_DROID droid "droid@$DROID_OLDER_VERSION" "@factory/cli-$platform/bin/droid" ||
        status=1
    # The platform package by itself, which is the program; without AVX2 the one for older machines.
    provide THRU_OPENCODE opencode "opencode-$platform$older@$OPENCODE_VERSION" \
        "opencode-$platform$older/bin/opencode" || status=1
    [ $status = 0 ] || [ -n "$npm" ] || fail "npm is needed to install the harnesses and is not on PATH" \
        "https://nodejs.org has it (node 20 or newer), or your system's package manager"
    return $status
}

# provide VARIABLE NAME PACKAGE BINARY: the package in DIR/<package without the slash>, and DIR/NAME a link to its
# binary, which is what the tests look for.
provide() {
    folder=$dir/$(echo "$3" | tr '/' '+')
    binary=$folder/node_modules/$4
    [ -x "$binary" ] || fetch "$3" "$folder" "$4" || return 1
    link=$dir/.$2-$$
    ln -s "$binary" "$link"
    mv -f "$link" "$dir/$2"
    echo "$1=$binary"
}

# Into a separate folder, renamed when complete: an interrupted run, or two at once, leave nothing half done.
fetch() {
    [ -n "$npm" ] || return 1
    echo "Installing $1 ..." >&2
    new=$(mktemp -d "$dir/.new-XXXXXX")
    # No scripts: the binary is in the package. This version needs a newer node only for its installer.
    if npm install --prefix "$new" --ignore-scripts --no-audit --no-fund --no-progress --loglevel=error "$1" \
        >"$new/npm.log" 2>&1 && [ -x "$new/node_modules/$3" ]; then
        rm -rf "$2"
        mv "$new" "$2" || [ -x "$2/node_modules/$3" ]
    else
        echo "error: $1 did not install:" >&2
        tail -n 15 "$new/npm.log" | sed 's/^/    /' >&2
        rm -rf "$new"
        return 1
    fi
}

fail() {
    echo "error: $1" >&2
    [ $# -lt 2 ] || echo "hint: $2" >&2
    exit 1
}

main
