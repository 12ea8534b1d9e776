# shellcheck shell=sh
# Functions for install.sh and test.sh.

# Finds a cargo that works, or says how to get one.
#
# rustup's `cargo` looks for its toolchains below HOME. If HOME is not the account's own home (in a container, in CI,
# with `sudo`), cargo is on PATH but cannot run, although the account has a toolchain. So the account's own home is
# tried next. Only the toolchain is used from there; downloads of cargo stay below the given HOME.
find_cargo() {
    if cargo --version >/dev/null 2>&1; then
        return 0
    fi
    account_home=$(home_of_account)
    : "${HOME:=$account_home}"
    export HOME
    for home in "$HOME" "$account_home"; do
        [ -n "$home" ] || continue
        if PATH="$home/.cargo/bin:$PATH" cargo --version >/dev/null 2>&1; then
            PATH="$home/.cargo/bin:$PATH"
            export PATH
            return 0
        fi
        if [ -d "$home/.rustup" ] && RUSTUP_HOME="$home/.rustup" PATH="$home/.cargo/bin:$PATH" cargo --version >/dev/null 2>&1; then
            RUSTUP_HOME="$home/.rustup"
            PATH="$home/.cargo/bin:$PATH"
            export RUSTUP_HOME PATH
            return 0
        fi
    done
    if command -v cargo >/dev/null 2>&1; then
        echo "error: cargo is installed ($(command -v cargo)), but it does not run:" >&2
        cargo --version 2>&1 | head -n 3 | sed 's/^/    /' >&2
    else
        echo "error: Rust is required to build thru, and there is no cargo on PATH" >&2
    fi
    echo "hint: install Rust from https://rustup.rs, then open a new shell and run this script again" >&2
    return 1
}

# Installs the musl target, because a binary that is linked against musl starts fastest. Without rustup or a network,
# the binary is linked against another libc.
add_musl() {
    target=$(uname -m)-unknown-linux-musl
    case "$(uname -s) $target" in
    Linux\ x86_64-* | Linux\ aarch64-*) ;;
    *) return 0 ;;
    esac
    command -v rustup >/dev/null 2>&1 || return 0
    if rustup target list --installed 2>/dev/null | grep -qx "$target"; then
        return 0
    fi
    echo "Adding $target to the Rust toolchain, for a binary that starts faster ..."
    timeout 120 rustup target add "$target" >/dev/null 2>&1 ||
        echo "note: $target could not be added, so the binary will start a little slower"
}

# Installs the standard library for each supported platform. Nothing else is needed to lint the code for it.
add_platforms() {
    command -v rustup >/dev/null 2>&1 || return 0
    installed=$(rustup target list --installed 2>/dev/null) || return 0
    missing=
    for target in aarch64-apple-darwin x86_64-apple-darwin aarch64-unknown-linux-musl x86_64-unknown-linux-musl; do
        echo "$installed" | grep -qx "$target" || missing="$missing $target"
    done
    [ -n "$missing" ] || return 0
    echo "Adding$missing to the Rust toolchain, to check that thru builds there ..."
    # shellcheck disable=SC2086
    rustup target add $missing >/dev/null 2>&1 || echo "note: not all of these targets could be added"
}

# Prints the target of the archive from `cargo xtask dist --all` that runs on this machine, or nothing if there is none.
archive_target() {
    case "$(uname -s) $(uname -m)" in
    Linux\ x86_64 | Linux\ amd64) echo x86_64-unknown-linux-musl ;;
    Linux\ aarch64 | Linux\ arm64) echo aarch64-unknown-linux-musl ;;
    Darwin\ arm64) echo aarch64-apple-darwin ;;
    Darwin\ x86_64) echo x86_64-apple-darwin ;;
    esac
}

# sha256_of FILE: prints the SHA-256 checksum of the file.
sha256_of() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum "$1" | cut -d' ' -f1
    else
        shasum -a 256 "$1" | cut -d' ' -f1
    fi
}

home_of_account() {
    if command -v getent >/dev/null 2>&1; then
        getent passwd "$(id -u)" | cut -d: -f6
    elif command -v dscl >/dev/null 2>&1; then
        dscl . -read "/Users/$(id -un)" NFSHomeDirectory | sed 's/^[^:]*: *//'
    fi
}
