#!/bin/sh
# Installs the real harnesses for the end-to-end tests, at fixed versions, from npm. Installs nothing globally, and runs
# none of the harnesses.
#
#   scripts/harnesses.sh [DIR]        DIR is target/harnesses by default
#
# Harnesses that are already installed are left alone. Prints one line for each harness, in the form that the tests
# read:
#   THRU_CLAUDE=/…/claude        THRU_DROID=/…/droid        THRU_OPENCODE=/…/opencode
# If a harness cannot be installed, exits with 1 and prints the reason on stderr.
set -eu

CLAUDE_VERSION=2.1.325
DROID_VERSION=0.225.2
# The registry does not have all platform packages of the newer version, so this version is available for more machines.
DROID_OLDER_VERSION=0.215.0
OPENCODE_VERSION=1.18.33

here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
dir=${1:-$here/target/harnesses}

main() {
    case "$(uname -s)" in
        Linux) system=linux ;;
        Darwin) system=darwin ;;
        *) fail "the harnesses run only on Linux and macOS, not on $(uname -s)" ;;
    esac
    case "$(uname -m)" in
        x86_64 | amd64) machine=x64 ;;
        aarch64 | arm64) machine=arm64 ;;
        *) fail "the harnesses run only on x86-64 and arm64, not on $(uname -m)" ;;
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
    # Install the platform package directly. The package `droid`, which chooses the platform, depends on a version that
    # does not exist.
    provide THRU_DROID droid "@factory/cli-$platform@$DROID_VERSION" "@factory/cli-$platform/bin/droid" ||
        provide THRU_DROID droid "droid@$DROID_OLDER_VERSION" "@factory/cli-$platform/bin/droid" ||
        status=1
    # Install the platform package directly, because it contains the program. Machines without AVX2 need the package
    # with the suffix `-baseline`.
    provide THRU_OPENCODE opencode "opencode-$platform$older@$OPENCODE_VERSION" \
        "opencode-$platform$older/bin/opencode" || status=1
    [ $status = 0 ] || [ -n "$npm" ] || fail "npm is required to install the harnesses, and it is not on PATH" \
        "install node 20 or newer from https://nodejs.org or with your system's package manager"
    return $status
}

# provide VARIABLE NAME PACKAGE BINARY: installs PACKAGE into a folder of DIR with the name of the package, unless it is
# installed already. Creates the link DIR/NAME to its binary, which the tests look for, and prints VARIABLE=binary.
provide() {
    folder=$dir/$(echo "$3" | tr '/' '+')
    binary=$folder/node_modules/$4
    [ -x "$binary" ] || fetch "$3" "$folder" "$4" || return 1
    link=$dir/.$2-$$
    ln -s "$binary" "$link"
    mv -f "$link" "$dir/$2"
    echo "$1=$binary"
}

# fetch PACKAGE FOLDER BINARY: installs PACKAGE into a temporary folder and renames it when it is complete. So neither
# an interrupted run nor two runs at once leave an incomplete folder.
fetch() {
    [ -n "$npm" ] || return 1
    echo "Installing $1 ..." >&2
    new=$(mktemp -d "$dir/.new-XXXXXX")
    # Installation scripts are not needed, because the package contains the binary. Only its installer needs a newer
    # node.
    if npm install --prefix "$new" --ignore-scripts --no-audit --no-fund --no-progress --loglevel=error "$1" \
        >"$new/npm.log" 2>&1 && [ -x "$new/node_modules/$3" ]; then
        rm -rf "$2"
        mv "$new" "$2" || [ -x "$2/node_modules/$3" ]
    else
        echo "error: npm could not install $1:" >&2
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
