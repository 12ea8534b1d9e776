//! Factory Droid.

pub mod transcript;
