//! A reply to a hook. Adapters convert it to what their harness accepts. Usually the reply is empty.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reply {
    /// Zero bytes on stdout.
    #[default]
    Silent,
    /// One message for the user, which the model does not see.
    TellUser(String),
    /// Do not let the agent stop: the user's loop continues with this text.
    Block(String),
    /// The loop's validators must decide, which may take minutes: the caller should send the same stop again and wait
    /// for the answer.
    AskAgain,
    /// Text for the model.
    Context(String),
    /// Text for the model, and one message for the user.
    ContextAndUser { context: String, user: String },
    /// What the model is shown in place of a tool's output.
    Output(String),
    /// What the summary should keep. It is for the summariser, if the harness can pass it on.
    Guidance(String),
}

/// What one feature, or the brief, wants to reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplyPart {
    pub reply: Reply,
    /// The ids of the candidates that the reply contains. They count as told once the reply was sent.
    pub told: Vec<String>,
}

impl ReplyPart {
    pub fn silent() -> ReplyPart {
        ReplyPart::default()
    }

    /// Makes a reply that contains no candidates.
    pub fn from_reply(reply: Reply) -> ReplyPart {
        ReplyPart { reply, told: Vec::new() }
    }
}

/// Combines several replies into one, and returns which candidates it contains. A loop that continues comes first.
/// Texts for the model follow in the given order. Anything that does not fit is not sent and does not count as told.
pub fn combine_replies(parts: Vec<ReplyPart>) -> ReplyPart {
    let strength = |reply: &Reply| match reply {
        Reply::Silent => 0,
        Reply::TellUser(_) => 1,
        Reply::Guidance(_) => 2,
        Reply::Context(_) | Reply::ContextAndUser { .. } => 3,
        // The original is stored, so the model must learn its id.
        Reply::Output(_) => 4,
        Reply::AskAgain | Reply::Block(_) => 5,
    };
    let strongest = parts.iter().map(|part| strength(&part.reply)).max().unwrap_or(0);
    // The user's message goes alongside the model's text.
    let user = parts.iter().find_map(|part| match &part.reply {
        Reply::TellUser(text) => Some(text.clone()),
        _ => None,
    });
    let told = parts.into_iter().filter(|part| strength(&part.reply) == strongest).reduce(join_two);
    let ReplyPart { reply, told } = told.unwrap_or_default();
    let reply = match (reply, user) {
        (Reply::Context(context), Some(user)) => Reply::ContextAndUser { context, user },
        (reply, _) => reply,
    };
    ReplyPart { reply, told }
}

fn join_two(first: ReplyPart, second: ReplyPart) -> ReplyPart {
    match (first.reply, second.reply) {
        (Reply::Context(a), Reply::Context(b)) => {
            ReplyPart { reply: Reply::Context(a + &b), told: [first.told, second.told].concat() }
        }
        (reply, _) => ReplyPart { reply, told: first.told },
    }
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
