#!/bin/sh
# Everything that has to hold before a change lands: format, lints, house rules, tests, torture, bench.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd -- "$here"

. "$here/scripts/toolchain.sh"
find_cargo || exit 1
add_musl

# The torture breaks single system calls, and for that it needs strace.
if [ "$(uname -s)" = Linux ] && ! command -v strace >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "Installing strace ..."
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq strace
    else
        echo "error: strace is needed and not installed" >&2
        echo "hint: sudo apt-get install strace (dnf, pacman, apk and zypper have it under the same name)" >&2
        exit 1
    fi
fi

# What makes the second build faster makes the first one slower, and CI has only that one.
if [ -n "${CI-}" ]; then
    export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_CODEGEN_UNITS=2
fi

exec cargo xtask ci
