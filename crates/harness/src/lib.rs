//! How each harness speaks. Pure: bytes in, values out.
