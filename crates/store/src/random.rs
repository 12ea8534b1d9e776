//! Random bytes from the kernel. A failure is an ordinary error, not a panic.

use crate::{Error, Result};

pub fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    fill_with_random_bytes(&mut bytes)?;
    Ok(bytes)
}

/// Fills `bytes` with one system call.
#[cfg(target_os = "linux")]
fn fill_with_random_bytes(bytes: &mut [u8]) -> Result<()> {
    use rustix::rand::{GetRandomFlags, getrandom};
    let wanted = bytes.len();
    // For up to 256 bytes, the kernel returns either all of them or none.
    match getrandom(&mut *bytes, GetRandomFlags::empty()) {
        Ok(got) if got == wanted => Ok(()),
        Ok(got) => Err(random_error(format!("only {got} of {wanted} bytes"))),
        Err(e) => Err(Error::from_errno(e, "/dev/random".as_ref(), "read")),
    }
}

/// Fills `bytes` with `getentropy` on macOS.
#[cfg(not(target_os = "linux"))]
fn fill_with_random_bytes(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|e| random_error(e.to_string()))
}

fn random_error(why: String) -> Error {
    Error::Io { path: "/dev/random".into(), doing: "read", why }
}

#[cfg(test)]
mod tests {
    use super::random_bytes;

    #[test]
    fn each_call_gives_other_bytes() {
        let (one, two) = (random_bytes::<32>().unwrap(), random_bytes::<32>().unwrap());
        assert_ne!(one, two);
        assert_ne!(one, [0; 32]);
    }
}
