//! What we answer. Adapters turn it into what their harness accepts; most of the time it is nothing at all.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Zero bytes on stdout.
    Silent,
    /// One message for the person at the terminal. The model does not see it.
    TellUser(String),
    /// Do not let it stop: a loop of the user's goes on, with this.
    Block(String),
    /// Text for the model.
    Context(String),
    /// What a summary should keep. For the summariser, where the harness lets us speak to it.
    Guidance(String),
}
