#!/bin/sh
# Runs all checks that a change must pass: format, lints, house rules, tests, torture, bench.
# The torture, the benchmark's limits and the emulated tests need Linux, so they are left out on macOS.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd -- "$here"

. "$here/scripts/toolchain.sh"
find_cargo || exit 1
add_musl
add_platforms

# need PROGRAM PACKAGE: if the program is missing, installs the package with apt-get, which needs root. Fails if the
# program is still missing.
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
    # The torture uses strace to make individual system calls fail.
    if ! need strace strace; then
        echo "error: strace is required, but it is not installed" >&2
        echo "hint: sudo apt-get install strace (dnf, pacman, apk and zypper have it under the same name)" >&2
        exit 1
    fi
    # qemu runs the tests of the arm64 binary. They come late, so qemu is installed while other checks run. Without qemu
    # these tests are skipped, or fail in CI.
    need qemu-aarch64-static qemu-user-static >/dev/null 2>&1 &
fi

# Incremental builds and debug info speed up rebuilds but slow down a first build, which is all CI ever does.
if [ -n "${CI-}" ]; then
    export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_CODEGEN_UNITS=2
fi

status=0
cargo xtask ci || status=$?
wait
exit "$status"
