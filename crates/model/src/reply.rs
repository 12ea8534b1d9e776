//! What we answer. Adapters turn it into what their harness accepts; most of the time it is nothing at all.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reply {
    /// Zero bytes on stdout.
    #[default]
    Silent,
    /// One message for the person at the terminal. The model does not see it.
    TellUser(String),
    /// Do not let it stop: a loop of the user's goes on, with this.
    Block(String),
    /// Text for the model.
    Context(String),
    /// Both: text for the model, and one message for the person.
    ContextAndUser { context: String, user: String },
    /// What a summary should keep. For the summariser, where the harness lets us speak to it.
    Guidance(String),
}

/// What one feature, or the brief, wants to answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub reply: Reply,
    /// The candidates it holds: once it was sent they count as told.
    pub told: Vec<String>,
}

impl Part {
    pub fn silent() -> Part {
        Part::default()
    }

    /// A reply that nobody has to remember.
    pub fn of(reply: Reply) -> Part {
        Part { reply, told: Vec::new() }
    }
}

/// One reply out of several, and what it tells. A loop that goes on comes first; texts for the model follow each other
/// in the order given; what does not fit into one reply is not sent and does not count as told.
pub fn combine(parts: Vec<Part>) -> Part {
    let strength = |reply: &Reply| match reply {
        Reply::Silent => 0,
        Reply::TellUser(_) => 1,
        Reply::Guidance(_) => 2,
        Reply::Context(_) | Reply::ContextAndUser { .. } => 3,
        Reply::Block(_) => 4,
    };
    let strongest = parts.iter().map(|part| strength(&part.reply)).max().unwrap_or(0);
    // What the person is told goes beside what the model is told.
    let user = parts.iter().find_map(|part| match &part.reply {
        Reply::TellUser(text) => Some(text.clone()),
        _ => None,
    });
    let told = parts.into_iter().filter(|part| strength(&part.reply) == strongest).reduce(join);
    let Part { reply, told } = told.unwrap_or_default();
    let reply = match (reply, user) {
        (Reply::Context(context), Some(user)) => Reply::ContextAndUser { context, user },
        (reply, _) => reply,
    };
    Part { reply, told }
}

fn join(first: Part, second: Part) -> Part {
    match (first.reply, second.reply) {
        (Reply::Context(a), Reply::Context(b)) => {
            Part { reply: Reply::Context(a + &b), told: [first.told, second.told].concat() }
        }
        (reply, _) => Part { reply, told: first.told },
    }
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
