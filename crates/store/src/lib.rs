//! The disk: the only crate that opens files below `.agent/context/`.
//!
//! Everything goes through [`Dir`], a folder held open by its handle, so that no name can lead out of it.

#![forbid(unsafe_code)]

mod append;
mod atomic;
mod dir;
mod error;
pub mod feed;
mod foreign;
pub mod git;
pub mod layout;
mod lock;
mod log;
mod look;
mod loops;
mod outputs;
mod owner;
mod packets;
mod random;
pub mod role;
mod root;
mod session;
mod store;
mod trust;

pub use atomic::Durability;
pub use dir::{Dir, Entry, EntryKind, read_own};
pub use error::Error;
pub use foreign::Replaced;
pub use lock::Lock;
pub use log::{Place, Tally};
pub use look::Look;
pub use outputs::{Care, Run, absent_inputs, inputs_digest};
pub use owner::Exposed;
pub use packets::{Listed, Listing};
pub use random::random;
pub use root::{Found, Root, Rules, Unfit, Wish, find, unfit};
pub use store::{Created, Store};
pub use trust::{Trust, TrustedRoot};

pub type Result<T> = std::result::Result<T, Error>;
