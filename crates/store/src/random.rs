//! Chance, from the kernel. A failure is an error like any other, not a panic.

use rustix::rand::{GetRandomFlags, getrandom};

use crate::{Error, Result};

pub fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    // Up to 256 bytes come whole or not at all.
    match getrandom(&mut bytes[..], GetRandomFlags::empty()) {
        Ok(got) if got == N => Ok(bytes),
        Ok(got) => {
            let why = format!("only {got} of {N} bytes");
            Err(Error::Io { path: "/dev/random".into(), doing: "read", why })
        }
        Err(e) => Err(Error::from_errno(e, "/dev/random".as_ref(), "read")),
    }
}
