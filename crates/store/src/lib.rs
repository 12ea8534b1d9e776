//! The disk: the only crate that opens files below `.agent/context/`.
