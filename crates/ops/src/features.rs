//! What thru does beyond capturing a session: one module per feature.

pub mod crashed;
pub mod loops;
pub mod outputs;
pub mod packets;
pub mod roles;
pub mod workstreams;
