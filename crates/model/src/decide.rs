//! The engine: facts, an event, settings and a clock in; effects and a reply out. It touches nothing.

use jiff::Timestamp;

use crate::config::Settings;
use crate::event::{Event, Kind, Source};
use crate::journal::{self, Scene};
use crate::marker::Mode;
use crate::redact;
use crate::reply::Reply;
use crate::session;

/// What was found on disk before deciding.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub harness: &'a str,
    /// The root's folder, as the user would type it.
    pub root: &'a str,
    pub checkout: &'a str,
    pub trusted: bool,
    pub mode: Mode,
}

/// What the store is asked to do, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Append to the session's journal.
    Journal(Vec<u8>),
    /// Append to the list of sessions.
    Register(Vec<u8>),
    /// Note the session in `root.json`, if that is easily done.
    RememberSession,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub effects: Vec<Effect>,
    pub reply: Reply,
}

pub fn decide(facts: &Facts, event: &Event, settings: &Settings, now: Timestamp) -> Verdict {
    if !facts.trusted {
        return Verdict { effects: Vec::new(), reply: untrusted_reply(facts, &event.kind) };
    }
    let scene = Scene {
        harness: facts.harness,
        checkout: facts.checkout,
        redact: redact::Options { emails: settings.redact_emails },
        now,
    };
    let mut effects = vec![Effect::Journal(journal::record(event, &scene).line())];
    if let Kind::SessionStart { source } = event.kind {
        effects.push(Effect::Register(session::line(event, source, &scene)));
        // In a shared store root.json is in git: a session must not make the tree dirty.
        if facts.mode == Mode::Private && event.agent.is_none() {
            effects.push(Effect::RememberSession);
        }
    }
    Verdict { effects, reply: Reply::Silent }
}

/// Once a session, and to the person only: somebody else's text never reaches the model unasked.
fn untrusted_reply(facts: &Facts, kind: &Kind) -> Reply {
    match kind {
        Kind::SessionStart { source: Source::Startup } => Reply::TellUser(format!(
            "Throughline: the records in {}/.agent/context came with this folder and are not trusted on this \
             machine. Nothing is read from or written to them. Look at them, then run `thru trust` in a terminal.",
            facts.root
        )),
        _ => Reply::Silent,
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
