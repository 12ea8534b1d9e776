use super::command_output::{CommandOutput, is_commit_id};

pub(super) struct CommitLine<'a> {
    pub branch: &'a str,
    pub id: &'a str,
    pub subject: &'a str,
}

/// Parses `[main 49f6518] Subject`, `[main (root-commit) 3f91520] init` or `[detached HEAD e8bf0c9] Subject`.
pub(super) fn parse_commit_line(line: &str) -> Option<CommitLine<'_>> {
    let (head, subject) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
    let (branch, id) = head.rsplit_once(' ')?;
    let branch = branch.strip_suffix(" (root-commit)").unwrap_or(branch);
    (is_commit_id(id) && !branch.is_empty()).then_some(CommitLine { branch, id, subject: subject.trim() })
}

/// Returns the commit id from the output of `git log --oneline` or `git rev-parse` after a quiet commit.
pub(super) fn commit_shown_by_log(line: &str) -> Option<&str> {
    let word = line.trim().strip_prefix("commit ").unwrap_or(line.trim()).split(' ').next()?;
    (is_commit_id(word) && word.bytes().any(|b| b.is_ascii_digit())).then_some(word)
}

/// Parses `Updating 1a2b3c4..5d6e7f8` and returns the second commit, which is the branch's new position.
pub(super) fn new_commit_in_updating_line(line: &str) -> Option<&str> {
    let (_, to) = line.strip_prefix("Updating ")?.split_once("..")?;
    Some(to.split(' ').next().unwrap_or(to))
}

/// Parses `Successfully rebased and updated refs/heads/main.` and returns the branch.
pub(super) fn parse_rebased_line(line: &str) -> Option<&str> {
    let (_, branch) = line.split_once("Successfully rebased and updated ")?;
    let branch = branch.trim_end_matches('.');
    Some(branch.strip_prefix("refs/heads/").unwrap_or(branch))
}

/// Parses `Deleted branch topic (was 1a2b3c4).` and returns the branch and its commit.
pub(super) fn parse_deleted_branch_line(line: &str) -> Option<(&str, &str)> {
    let (name, was) = line.strip_prefix("Deleted branch ")?.split_once(" (was ")?;
    Some((name, was.trim_end_matches(['.', ')'])))
}

pub(super) struct RefUpdate<'a> {
    pub what: String,
    pub commit_range: &'a str,
    pub to: &'a str,
}

/// Returns the refs that a push changed. A fetch prints similar lines, but below `From` instead of `To`.
pub(super) fn pushed_refs<'a>(said: &CommandOutput<'a>) -> Vec<RefUpdate<'a>> {
    let fetched = said.lines().any(|line| line.starts_with("From "));
    let (mut to, mut found) = (if fetched { None } else { Some("") }, Vec::new());
    for line in said.lines() {
        if let Some(url) = line.strip_prefix("To ") {
            to = Some(url.trim());
        } else if line.starts_with("From ") {
            to = None;
        } else if let (Some(to), Some((what, range))) = (to, parse_ref_update(line)) {
            found.push(RefUpdate { what, commit_range: range, to });
        }
    }
    found
}

fn parse_ref_update(line: &str) -> Option<(String, &str)> {
    let line = line.strip_prefix(' ')?;
    let (sign, rest) = line.split_at_checked(1)?;
    if let Some(name) = rest.trim_start().strip_prefix("[deleted]").filter(|_| sign == "-") {
        return Some((format!("deleted {}", name.trim()), ""));
    }
    let (left, right) = rest.split_once(" -> ")?;
    let target = right.split_whitespace().next()?;
    if target.starts_with("origin/") || target == "FETCH_HEAD" || !matches!(sign, " " | "*" | "+") {
        return None;
    }
    let left = left.trim();
    let (range, source) = match left.strip_prefix('[') {
        Some(new) => {
            let (new, source) = new.split_once(']')?;
            let is_new = new == "new branch" || new == "new tag" || new == "new reference";
            (is_new.then_some("")?, source.trim())
        }
        None => left.split_once(' ').map(|(range, source)| (range, source.trim()))?,
    };
    if !range.is_empty() && !range.split("..").all(|id| is_commit_id(id.trim_start_matches('.'))) {
        return None;
    }
    let is_forced = sign == "+";
    let is_tag = left.starts_with("[new tag]");
    let name = if source == target || source.is_empty() {
        target.to_owned()
    } else {
        format!("{source} to {target}")
    };
    Some((
        format!("{}{name}{}", if is_tag { "tag " } else { "" }, if is_forced { " (forced)" } else { "" }),
        range,
    ))
}

/// Returns the first line of a commit message, which may be given as a here-document.
pub(super) fn commit_subject(message: &str) -> String {
    let body = match message.strip_prefix("$(cat <<") {
        Some(document) => document.split_once('\n').map_or("", |(_, body)| body),
        None => message,
    };
    body.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

/// Returns the files that `git status` lists, separated by spaces. The result is empty if the working tree is clean,
/// and `None` if the lines are not the output of `git status` or a path contains a space.
pub(super) fn changed_files_in_status<'l>(lines: impl Iterator<Item = &'l str>) -> Option<String> {
    let mut files: Vec<&str> = Vec::new();
    let mut is_clean = false;
    for line in lines {
        is_clean |= line.starts_with("nothing to commit, working tree clean");
        let Some(entry) = line.strip_prefix('\t') else { continue };
        let (_, path) = entry.split_once(":   ").unwrap_or(("", entry));
        // A renamed file is listed as `old -> new`, so take the path after the arrow.
        let path = path.rsplit(" -> ").next().unwrap_or(path).trim().trim_start_matches("../");
        if path.contains(' ') || path.is_empty() {
            return None;
        }
        files.push(path);
    }
    (is_clean == files.is_empty()).then(|| files.join(" "))
}
