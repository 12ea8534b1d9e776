//! Access to the disk. No other crate opens files below `.agent/context/`.
//!
//! All files are opened through [`Dir`], a handle to an open folder, so that no name can lead out of that folder.

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
mod file_info;
mod foreign;
pub mod git;
mod installs;
pub mod layout;
mod lock;
mod log;
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
pub use checkout::{Checkout, ExaminationLimit, ListingComparison, ListingTime};
pub use consent::{ConsentKind, Consents};
pub use decisions::AnswersFingerprint;
pub use dir::{Dir, FolderEntry, FolderEntryKind};
pub use error::Error;
pub use evidence::LastRunRecordedAsEvidence;
pub use file_info::FileInfo;
pub use foreign::ReplaceOutcome;
pub use installs::{FolderChange, InstallList};
pub use lock::Lock;
pub use log::{LineTally, LogPosition, LogReadExtent};
pub use lost::{LostRecords, LostRecordsNote};
pub use outputs::{
    OutputReadDepth, RunFolder, absent_inputs, digests_of_inputs, input_folder, inputs_digest,
    recorded_checkout,
};
pub use owner::FolderExposure;
pub use packets::{ListedPacket, PacketListing};
pub use plan::LastLedgerLine;
pub use random::random_bytes;
pub use read::{metadata_without_following, read_file_named_by_user, read_outside_store, read_stream};
pub use root::{FoundRoot, Root, RootQuery, RootRules, UnfitRootReason, find_root, why_unfit_root};
pub use session_state::{SessionState, SessionStateHandle};
pub use store::{CreatedStore, Store};
pub use tracked::GitTrackedFiles;
pub use trust::{TrustRecords, TrustedRoot};

pub type Result<T> = std::result::Result<T, Error>;
