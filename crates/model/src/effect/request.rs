//! Rules that derive the effects of HTTP requests from the URL and the response.

use super::command_output::CreatedIds;
use super::parts::UnwrappedCommand;
use super::{Effect, EffectCollector, EffectKind, has_flag, option_value};

/// The resource that a request changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestTarget {
    kind: EffectKind,
    what: String,
    place: String,
    /// The id of the issue or pull request, used if the response contains no id.
    id: String,
}

impl RequestTarget {
    /// Interprets a GitHub or GitLab API path, such as `repos/owner/name/pulls/5/comments`.
    pub fn from_api_path(path: &str, method: &str, repository: &str) -> RequestTarget {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let (place, rest) = match parts.as_slice() {
            ["repos", owner, name, rest @ ..] => (format!("{owner}/{name}"), rest),
            ["projects", project, rest @ ..] => (project.replace("%2F", "/").replace("%2f", "/"), rest),
            rest => (repository.to_owned(), rest),
        };
        let place =
            if place.contains("{owner}") || place == ":owner/:repo" { repository.to_owned() } else { place };
        let is_number = |word: &str| {
            !word.is_empty() && (word.bytes().all(|b| b.is_ascii_digit()) || word.starts_with(['$', '{']))
        };
        let on = |number: &str| format!("{place}#{number}");
        let new = |kind, what: &str, place: String| RequestTarget {
            kind,
            what: what.to_owned(),
            place,
            id: String::new(),
        };
        let changed = |kind, what: &str, id: &str, place: String| {
            let done = match method {
                "DELETE" => "deleted",
                _ => "edited",
            };
            RequestTarget { kind, what: format!("{done}{what}"), place, id: id.to_owned() }
        };
        match rest {
            ["pulls", number, "comments", reply, "replies"] => {
                new(EffectKind::Comment, &format!("reply to {reply}"), on(number))
            }
            ["pulls", number, "comments"]
            | ["issues" | "merge_requests", number, "comments" | "notes"]
            | ["merge_requests", number, "discussions"] => new(EffectKind::Comment, "", on(number)),
            ["merge_requests" | "issues", number, "discussions", thread, "notes"] => {
                new(EffectKind::Comment, &format!("reply to {thread}"), on(number))
            }
            ["pulls" | "issues", "comments", id] => changed(EffectKind::Comment, "", id, place),
            ["pulls" | "issues", "comments", id, "reactions"] => {
                new(EffectKind::Comment, &format!("reaction to {id}"), place)
            }
            ["pulls", number, "reviews", ..] => new(EffectKind::Review, "", on(number)),
            ["pulls", number, "requested_reviewers"] => new(EffectKind::Review, "asked for", on(number)),
            ["pulls" | "merge_requests", number, "merge"] => RequestTarget {
                kind: EffectKind::PullRequest,
                what: "merged".into(),
                place,
                id: (*number).to_owned(),
            },
            ["pulls" | "merge_requests"] => new(EffectKind::PullRequest, "created", place),
            ["pulls" | "merge_requests", number] if is_number(number) => {
                changed(EffectKind::PullRequest, "", number, place)
            }
            ["issues"] => new(EffectKind::Issue, "created", place),
            ["issues", number] if is_number(number) => changed(EffectKind::Issue, "", number, place),
            ["issues", number, part, ..] => changed(EffectKind::Issue, &format!(" ({part})"), number, place),
            ["releases"] => new(EffectKind::Release, "created", place),
            ["releases", id, ..] => changed(EffectKind::Release, "", id, place),
            ["git", "refs", ..] | ["branches", ..] => {
                new(EffectKind::Branch, &format!("{method} {}", rest.join("/")), place)
            }
            _ => {
                let rest = if rest.is_empty() { path.to_owned() } else { rest.join("/") };
                new(EffectKind::Request, &format!("{method} {rest}"), place)
            }
        }
    }

    pub fn to_effect(&self, made: &CreatedIds) -> Effect {
        let numbered = matches!(self.kind, EffectKind::PullRequest | EffectKind::Issue);
        let id = match (numbered, made.number.is_empty(), made.id.is_empty()) {
            (true, false, _) | (false, false, true) => &made.number,
            (true, true, _) if !self.id.is_empty() => &self.id,
            (_, _, false) => &made.id,
            _ => &self.id,
        };
        let link = if made.link.contains("://api.") { "" } else { &made.link };
        Effect { link: link.to_owned(), ..Effect::new(self.kind, &self.what, &self.place, id) }
    }
}

/// Interprets a GraphQL mutation by the name of its first field. Returns `None` for a query.
pub(super) fn parse_mutation(text: &str) -> Option<RequestTarget> {
    let (_, rest) = text.split_once("mutation")?;
    let (_, body) = rest.split_once('{')?;
    let name: String =
        body.trim_start().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let lower = name.to_ascii_lowercase();
    let kind = if lower.contains("comment") || lower.contains("reply") {
        EffectKind::Comment
    } else if lower.contains("review") {
        EffectKind::Review
    } else if lower.contains("pullrequest") {
        EffectKind::PullRequest
    } else if lower.contains("issue") {
        EffectKind::Issue
    } else {
        EffectKind::Request
    };
    // The id of the changed object, as in `threadId:"PRRT_…"` or `-f threadId=PRRT_…`.
    let about = ["threadId", "pullRequestReviewThreadId", "subjectId", "pullRequestId", "issueId", "id"];
    let id = about.iter().find_map(|key| field_value(text, key)).unwrap_or_default();
    Some(RequestTarget { kind, what: name, place: String::new(), id })
}

/// Returns the value of a field in JSON, in GraphQL or in the form `key=value`.
fn field_value(text: &str, key: &str) -> Option<String> {
    for (start, _) in text.match_indices(key) {
        let rest = text[start + key.len()..].trim_start();
        let Some(rest) = rest.strip_prefix([':', '=']) else { continue };
        let value: String = rest
            .trim_start_matches([' ', '"', '\\'])
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '='))
            .collect();
        if value.len() > 5 && !value.starts_with("ID") {
            return Some(value);
        }
    }
    None
}

/// Applies the rule for `curl`, `wget` and `http` (HTTPie).
pub(super) fn apply_request_rule(seen: &mut EffectCollector, part: &UnwrappedCommand) {
    let words = &part.words;
    let Some((method, url)) = (match words[0].as_str() {
        "curl" => curl_method_and_url(words),
        "wget" => wget_method_and_url(words),
        _ => httpie_method_and_url(words),
    }) else {
        return;
    };
    let bare = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    let host = bare.split(['/', '?', ':']).next().unwrap_or("");
    // A request to this machine or the local network is not an effect on the outside world.
    if matches!(host, "localhost" | "127.0.0.1" | "0.0.0.0" | "[" | "host.docker.internal" | "")
        || host.starts_with("192.168.")
        || host.ends_with(".local")
        || host.starts_with('$') && bare.contains("PORT")
    {
        return;
    }
    let address = bare.split('?').next().unwrap_or(bare);
    let mut target = match address.split_once('/') {
        Some(("api.github.com", "graphql")) => match parse_mutation(&words.join(" ")) {
            Some(target) => target,
            None => return,
        },
        Some(("api.github.com", path)) => RequestTarget::from_api_path(path, &method, ""),
        Some((host, path)) if path.starts_with("api/v4/") => {
            let target = RequestTarget::from_api_path(&path["api/v4/".len()..], &method, "");
            if target.place.is_empty() { RequestTarget { place: host.to_owned(), ..target } } else { target }
        }
        _ => RequestTarget {
            kind: if is_message_address(address) { EffectKind::Message } else { EffectKind::Request },
            what: format!("{method} {address}"),
            place: String::new(),
            id: String::new(),
        },
    };
    if target.kind == EffectKind::Message {
        // The path of a webhook is secret, because anyone who knows it can send messages.
        target = RequestTarget { what: "sent".into(), place: host.to_owned(), ..target };
    }
    if seen.output.contains_text("curl: (") && !part.may_run_repeatedly {
        return;
    }
    let before = seen.effects.len();
    loop {
        let status = seen.output.take_first_line(parse_http_status);
        if status.is_some_and(|status| status >= 400) {
            return;
        }
        match seen.output.take_created_ids(|word| word.starts_with("https://")) {
            Some(CreatedIds { failed: true, .. }) => {}
            Some(made) => seen.add_effect(target.to_effect(&made)),
            None => {
                let proven = status.is_some_and(|status| status < 400);
                if seen.effects.len() == before && (proven || seen.probably_succeeded(part)) {
                    seen.add_effect(target.to_effect(&CreatedIds::default()));
                }
                return;
            }
        }
        if !part.may_run_repeatedly {
            return;
        }
    }
}

fn is_message_address(address: &str) -> bool {
    [
        "hooks.slack.com",
        "-webhook",
        "slack.com/api/chat",
        "discord.com/api/webhooks",
        "api.telegram.org",
        "webhook.office.com",
        "ntfy.sh",
        "/messages",
        "sendgrid.com",
        "mailgun",
    ]
    .iter()
    .any(|part| address.contains(part))
}

/// Parses `HTTP/2 201`, or a lone `201`, which `-w '%{http_code}'` prints.
fn parse_http_status(line: &str) -> Option<u32> {
    let line = line.trim();
    let text = match line.strip_prefix("HTTP/") {
        Some(rest) => rest.split(' ').nth(1)?,
        None => {
            let last = line.rsplit([' ', ':', '=']).next()?;
            (last.len() == line.len()
                || line.to_ascii_lowercase().starts_with("http")
                || line.to_ascii_lowercase().starts_with("status"))
            .then_some(last)?
        }
    };
    text.parse().ok().filter(|status| text.len() == 3 && (100..600).contains(status))
}

fn curl_method_and_url(words: &[String]) -> Option<(String, String)> {
    let sends = words.iter().any(|word| {
        matches!(
            word.as_str(),
            "-d" | "-F"
                | "-T"
                | "--data"
                | "--json"
                | "--form"
                | "--upload-file"
                | "--data-raw"
                | "--data-binary"
                | "--data-urlencode"
                | "--form-string"
        ) || ["--data", "--json=", "--form="].iter().any(|name| word.starts_with(name))
            || word.len() > 2 && (word.starts_with("-d") || word.starts_with("-F")) && !word.starts_with("--")
    });
    if has_flag(words, &["-G", "--get", "-I", "--head"]) {
        return None;
    }
    // Short options may be combined, as in `-sX POST`.
    let clustered = words.iter().position(|word| {
        word.starts_with('-') && !word.starts_with("--") && word.len() > 2 && word.ends_with('X')
    });
    let named = clustered
        .and_then(|place| words.get(place + 1).cloned())
        .or_else(|| option_value(words, &["-X", "--request"]));
    let method = match named.map(|method| method.to_ascii_uppercase()).as_deref() {
        Some(method @ ("POST" | "PUT" | "PATCH" | "DELETE")) => method.to_owned(),
        Some(_) => return None,
        None if words.iter().any(|word| word == "-T" || word == "--upload-file") => "PUT".into(),
        None if sends => "POST".into(),
        None => return None,
    };
    Some((method, find_url_in_words(words)?))
}

fn wget_method_and_url(words: &[String]) -> Option<(String, String)> {
    let method = match words.iter().find_map(|word| word.strip_prefix("--method=")) {
        Some(method) => method.to_ascii_uppercase(),
        None if words.iter().any(|word| word.starts_with("--post-")) => "POST".into(),
        None => return None,
    };
    (method != "GET" && method != "HEAD").then_some((method, find_url_in_words(words)?))
}

fn httpie_method_and_url(words: &[String]) -> Option<(String, String)> {
    let place = words.iter().position(|word| matches!(word.as_str(), "POST" | "PUT" | "PATCH" | "DELETE"))?;
    Some((words[place].clone(), words.get(place + 1)?.clone()))
}

fn find_url_in_words(words: &[String]) -> Option<String> {
    let is_one = |word: &&String| word.starts_with("http://") || word.starts_with("https://");
    // The address of a webhook is secret, so the redacted command contains only its kind, such as
    // `[REDACTED:slack-webhook]`.
    let hidden = |word: &String| {
        let kind = word.strip_prefix("[REDACTED:")?.strip_suffix(']')?;
        kind.ends_with("hook").then(|| kind.to_owned())
    };
    words.iter().find(is_one).cloned().or_else(|| words.iter().find_map(hidden)).or_else(|| {
        words[1..]
            .iter()
            .rfind(|word| {
                word.starts_with('$')
                    || word.contains('.') && word.contains('/') && !word.starts_with(['-', '@', '.', '/'])
            })
            .cloned()
    })
}
