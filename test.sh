#!/bin/sh
# All checks before a change lands: format, lints, house rules, tests, torture, bench.
# On macOS the torture, the benchmark's limits and the emulated tests are left out: they need Linux.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd -- "$here"

. "$here/scripts/toolchain.sh"
find_cargo || exit 1
add_musl
add_platforms

# need PROGRAM PACKAGE: installs the package if that is possible here. False if the program is still missing.
need() {
    command -v "$1" >/dev/null 2>&1 && return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "Installing $2 ..."
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2"
    fi
    command -v "$1" >/dev/null 2>&1
}

if [ "$(uname -s)" = Linux ]; then
    # The torture breaks single system calls, which needs strace.
    if ! need strace strace; then
        echo "error: strace is needed and not installed" >&2
        echo "hint: sudo apt-get install strace (dnf, pacman, apk and zypper have it under the same name)" >&2
        exit 1
    fi
    # Runs the tests of the arm64 binary. Without it they are skipped, and in CI that is a failure.
    need qemu-aarch64-static qemu-user-static || echo "note: no qemu-aarch64-static; the arm64 tests will be skipped"
fi

# What makes the second build faster makes the first one slower, and CI has only that one.
if [ -n "${CI-}" ]; then
    export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_CODEGEN_UNITS=2
fi

exec cargo xtask ci
