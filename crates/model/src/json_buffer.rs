//! Writes large values as JSON.

use std::io;

use serde::Serialize;

/// The size of a new buffer. Most digests fit.
const FIRST_BUFFER_BYTES: usize = 32 * 1024;

/// Returns the same bytes as `serde_json::to_vec`, or no bytes if the value cannot be written as JSON.
pub fn to_json_bytes(value: &impl Serialize) -> Vec<u8> {
    let mut buffer = JsonBuffer { bytes: Vec::with_capacity(FIRST_BUFFER_BYTES) };
    match serde_json::to_writer(&mut buffer, value) {
        Ok(()) => buffer.bytes,
        Err(_) => Vec::new(),
    }
}

/// A buffer for serde, which writes twenty thousand pieces for a digest. Most pieces are a single byte, such as a
/// quote. `push` writes a byte in place, whereas the `write_all` of `Vec` makes two function calls for it.
struct JsonBuffer {
    bytes: Vec<u8>,
}

impl io::Write for JsonBuffer {
    #[inline]
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.write_all(piece)?;
        Ok(piece.len())
    }

    #[inline]
    fn write_all(&mut self, piece: &[u8]) -> io::Result<()> {
        match piece {
            [byte] => self.bytes.push(*byte),
            piece => self.bytes.extend_from_slice(piece),
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_serde_json() {
        let long = "x\u{e9}\n".repeat(FIRST_BUFFER_BYTES);
        for value in [
            serde_json::json!(null),
            serde_json::json!({"a": [1, -2, 0.5, true], "b": {"c": "quoted \" and \\, \u{1}\u{1f600}"}, "": []}),
            serde_json::json!([long, "", "y", {"z": long}]),
        ] {
            assert_eq!(to_json_bytes(&value), serde_json::to_vec(&value).unwrap());
        }
    }
}
