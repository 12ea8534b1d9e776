//! A reply to a hook. Adapters convert it to the format of their harness. Usually the reply is empty.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reply {
    /// Zero bytes on stdout.
    #[default]
    Silent,
    /// A message for the user. It is not sent to the model.
    TellUser(String),
    /// Do not let the agent stop: the user's loop continues with this text.
    Block(String),
    /// The loop's validators must decide, which may take minutes. The caller should send the same stop again and
    /// wait for the answer.
    AskAgain,
    /// Text for the model.
    Context(String),
    /// Text for the model, and one message for the user.
    ContextAndUser { context: String, user: String },
    /// A text that replaces a tool's output for the model.
    Output(String),
    /// The guidance for the summariser, if the harness can pass it on.
    Guidance(String),
}

/// The reply of one feature or of the brief.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplyPart {
    pub reply: Reply,
    /// The ids of the candidates in the reply. They are recorded as told once the reply is sent.
    pub told: Vec<String>,
}

impl ReplyPart {
    pub fn silent() -> ReplyPart {
        ReplyPart::default()
    }

    pub fn from_reply(reply: Reply) -> ReplyPart {
        ReplyPart { reply, told: Vec::new() }
    }
}

/// Combines several replies into one, and returns the candidates it contains. The reply of a loop that continues
/// comes first. Texts for the model follow in the given order. Text that does not fit is not sent, and its
/// candidates are not recorded as told.
pub fn combine_replies(parts: Vec<ReplyPart>) -> ReplyPart {
    let strength = |reply: &Reply| match reply {
        Reply::Silent => 0,
        Reply::TellUser(_) => 1,
        Reply::Guidance(_) => 2,
        Reply::Context(_) | Reply::ContextAndUser { .. } => 3,
        // The stored original can be retrieved only with the id in this reply.
        Reply::Output(_) => 4,
        Reply::AskAgain | Reply::Block(_) => 5,
    };
    let strongest = parts.iter().map(|part| strength(&part.reply)).max().unwrap_or(0);
    // The message for the user is sent together with the text for the model.
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
