//! The disk: the only crate that opens files below `.agent/context/`.
//!
//! Everything goes through [`Dir`], a folder that is held open, so that no name can lead out of it.

#![forbid(unsafe_code)]

mod append;
mod atomic;
mod benchmarks;
mod checkout;
mod consent;
mod decisions;
mod dir;
mod error;
mod evidence;
pub mod feed;
mod foreign;
pub mod git;
mod installs;
pub mod layout;
mod lock;
mod log;
mod look;
mod loops;
mod lost;
mod outputs;
mod owner;
mod packets;
mod plan;
mod random;
mod read;
pub mod role;
mod root;
mod session;
mod session_state;
mod store;
mod summaries;
mod system;
mod tracked;
mod trust;

pub use atomic::Durability;
pub use checkout::{Checkout, Comparison, Effort, ListedAt};
pub use consent::{ConsentKind, Consents};
pub use decisions::AnswersSeen;
pub use dir::{Dir, Entry, EntryKind};
pub use error::Error;
pub use evidence::SeenRuns;
pub use foreign::Replaced;
pub use installs::Installs;
pub use lock::Lock;
pub use log::{LogPosition, NewLines, Tally};
pub use look::Look;
pub use lost::{Lost, LostNote};
pub use outputs::{CheckDepth, Run, absent_inputs, inputs_digest};
pub use owner::Exposed;
pub use packets::{Listed, Listing};
pub use plan::LedgerEnd;
pub use random::random;
pub use read::{look_at, read_given, read_own, read_stream};
pub use root::{Found, Root, RootQuery, Rules, Unfit, find, unfit};
pub use session_state::{Session, SessionState};
pub use store::{Created, Store};
pub use tracked::Tracked;
pub use trust::{Trust, TrustedRoot};

pub type Result<T> = std::result::Result<T, Error>;
