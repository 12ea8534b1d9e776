//! What we answer. Adapters turn it into what their harness accepts; most of the time it is nothing at all.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Zero bytes on stdout.
    Silent,
    /// One message for the person at the terminal. The model does not see it.
    TellUser(String),
}
