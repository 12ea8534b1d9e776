//! A reply to a hook, which is usually empty. Adapters convert it to their harness's format.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reply {
    /// Nothing is written to stdout.
    #[default]
    Silent,
    /// A message for the user. It is not sent to the model.
    MessageForUser(String),
    /// The agent must not stop, because the user's loop continues with this text.
    BlockStop(String),
    /// The loop's validators must decide, which may take minutes. The caller should send the same stop event again
    /// and wait for the answer.
    AskToCallAgain,
    /// Text for the model.
    ContextForAgent(String),
    /// Text for the model, and one message for the user.
    ContextAndUser { context: String, user: String },
    /// Text that the model sees instead of a tool's output.
    ReplaceToolOutput(String),
    /// Guidance for the summariser, if the harness can pass it on.
    GuideSummariser(String),
}

/// The reply from one feature or from the brief.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplyPart {
    pub reply: Reply,
    /// The ids of the candidates in the reply. Once the reply is sent, they are recorded as known to the agent.
    pub candidate_ids: Vec<String>,
}

impl ReplyPart {
    pub fn silent() -> ReplyPart {
        ReplyPart::default()
    }

    pub fn from_reply(reply: Reply) -> ReplyPart {
        ReplyPart { reply, candidate_ids: Vec::new() }
    }
}

/// Combines several replies into one. Only the strongest kind of reply is sent. A reply that makes a loop continue is
/// the strongest. If several replies contain text for the model, the text is joined in the given order. Candidates in
/// replies that are not sent are not recorded as known to the agent.
pub fn combine_replies(parts: Vec<ReplyPart>) -> ReplyPart {
    let strength = |reply: &Reply| match reply {
        Reply::Silent => 0,
        Reply::MessageForUser(_) => 1,
        Reply::GuideSummariser(_) => 2,
        Reply::ContextForAgent(_) | Reply::ContextAndUser { .. } => 3,
        // This reply must not be lost, because the stored original can be retrieved only with the id in it.
        Reply::ReplaceToolOutput(_) => 4,
        Reply::AskToCallAgain | Reply::BlockStop(_) => 5,
    };
    let strongest = parts.iter().map(|part| strength(&part.reply)).max().unwrap_or(0);
    // A message for the user is sent along with the text for the model.
    let user = parts.iter().find_map(|part| match &part.reply {
        Reply::MessageForUser(text) => Some(text.clone()),
        _ => None,
    });
    let candidate_ids =
        parts.into_iter().filter(|part| strength(&part.reply) == strongest).reduce(join_two_replies);
    let ReplyPart { reply, candidate_ids } = candidate_ids.unwrap_or_default();
    let reply = match (reply, user) {
        (Reply::ContextForAgent(context), Some(user)) => Reply::ContextAndUser { context, user },
        (reply, _) => reply,
    };
    ReplyPart { reply, candidate_ids }
}

fn join_two_replies(first: ReplyPart, second: ReplyPart) -> ReplyPart {
    match (first.reply, second.reply) {
        (Reply::ContextForAgent(a), Reply::ContextForAgent(b)) => ReplyPart {
            reply: Reply::ContextForAgent(a + &b),
            candidate_ids: [first.candidate_ids, second.candidate_ids].concat(),
        },
        (reply, _) => ReplyPart { reply, candidate_ids: first.candidate_ids },
    }
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
