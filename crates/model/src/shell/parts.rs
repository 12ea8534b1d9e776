//! Splits a command line into its parts, each with the files that it names. Unlike [`super::command_steps`], this reads
//! on after a here-document.

use std::borrow::Cow;

use super::{
    MentionedPath, ShellWord, StepJoin, here_document_end, indexes_without_redirections, is_here_document,
    is_literal_word, join_of_operator, join_paths, paths_of_command, redirected_files, split_words,
};

/// A simple command in a line, with the files that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartWithFiles {
    /// The words, without redirections and quotes.
    pub words: Vec<String>,
    pub join_to_next: StepJoin,
    pub files: Vec<MentionedPath>,
    /// The files to which the shell redirects the output. They are written even if the command fails.
    pub redirected: Vec<String>,
}

/// Returns the parts of a line in their order, without the `cd` commands. The paths are relative to the folder of the
/// line.
pub(crate) fn parts_with_files(command: &str) -> Vec<PartWithFiles> {
    let text = without_here_documents(command);
    let words = split_words(&text);
    let mut parts: Vec<PartWithFiles> = Vec::new();
    let (mut base, mut start) = (String::new(), 0);
    for i in 0..=words.len() {
        let join_to_next = match words.get(i) {
            None => StepJoin::End,
            Some(word) => match join_of_operator(&words, i, word) {
                Some(join) => join,
                None => continue,
            },
        };
        let piece = &words[start..i];
        start = i + 1;
        if piece.is_empty() {
            // Adjacent operators count as one, as in `( a ) && b`.
            if let (Some(last), StepJoin::And | StepJoin::Or | StepJoin::Pipe | StepJoin::Background) =
                (parts.last_mut(), join_to_next)
            {
                last.join_to_next = join_to_next;
            }
            continue;
        }
        let from_base = |path: &str| join_paths(&base, path);
        let files = paths_of_command(piece).into_iter();
        let files = files.map(|(path, action)| MentionedPath { path: from_base(&path), action });
        let redirected = redirected_files(piece).into_iter().filter(|(_, action)| action.changes_file());
        parts.push(PartWithFiles {
            words: indexes_without_redirections(piece).map(|at| piece[at].text.clone()).collect(),
            join_to_next,
            files: files.collect(),
            redirected: redirected.map(|(path, _)| from_base(&path)).collect(),
        });
        if let Some(folder) = folder_of_cd(piece) {
            base = from_base(folder);
            parts.pop();
        }
    }
    parts
}

fn folder_of_cd(words: &[ShellWord]) -> Option<&str> {
    match words {
        [cd, folder] if cd.text == "cd" && is_literal_word(folder) => Some(&folder.text),
        _ => None,
    }
}

/// Removes the here-documents from a command line. What follows a document's name on the same line is kept, as in
/// `cat <<EOF > a.md`.
fn without_here_documents(command: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(command);
    loop {
        let words = split_words(&text);
        let Some(operator) = words.last().filter(|_| is_here_document(&words)) else { return text };
        let start = operator.span.start;
        let end = here_document_end(&text, start);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = text[operator.span.end..line_end].trim_start_matches(['-', ' ', '\t']);
        let name_end = line.find(|c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | ')' | '>'));
        let rest_of_line = &line[name_end.unwrap_or(line.len())..];
        text = Cow::Owned(format!("{}{rest_of_line}{}", &text[..start], &text[end.max(line_end)..]));
    }
}
