//! Finds the files named in a shell command. Doubtful paths are left out, because a wrong path misleads, whereas a
//! missing path does little harm.

mod parts;

use std::ops::Range;

use crate::event::FileAction;

pub(crate) use parts::parts_with_files;

/// A path in a command, as written, and what the command does to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionedPath {
    pub path: String,
    pub action: FileAction,
}

/// The maximum number of paths returned for a command. Generated commands can contain thousands.
const MAX_MENTIONED_PATHS: usize = 20;

/// Returns the files that a command line names, without duplicates. Each file has the strongest action that the line
/// performs on it.
pub fn paths_in_command(command: &str) -> Vec<MentionedPath> {
    let mut found: Vec<MentionedPath> = Vec::new();
    for mention in parts_with_files(command).into_iter().flat_map(|part| part.files) {
        let MentionedPath { path, action } = mention;
        if let Some(known) = found.iter_mut().find(|known| known.path == path) {
            if action_strength(action) > action_strength(known.action) {
                known.action = action;
            }
        } else if found.len() < MAX_MENTIONED_PATHS {
            found.push(MentionedPath { path, action });
        }
    }
    found
}

/// Splits a line into simple commands. Each is a list of words, without redirections.
pub fn simple_commands(command: &str) -> Vec<Vec<String>> {
    let tokens = split_words(command);
    split_commands(&tokens).map(without_redirections).filter(|words| !words.is_empty()).collect()
}

/// One simple command in a line, and how it is joined to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandStep {
    /// The words, without redirections and quotes.
    pub words: Vec<String>,
    /// The ranges of the words in the line, including quotes.
    pub word_ranges: Vec<Range<usize>>,
    pub join_to_next: StepJoin,
    /// Whether stderr is redirected to stdout, as with `2>&1` or `|&`.
    pub merges_stderr: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepJoin {
    And,
    Or,
    Pipe,
    /// The operator is `;` or a line break.
    Next,
    /// The operator is `&`, so the shell does not wait for the command.
    Background,
    /// The end of the line.
    End,
    /// A here-document follows. The text after it is not parsed.
    Document,
}

/// Splits a line into its simple commands, in order, with their operators.
pub fn command_steps(command: &str) -> Vec<CommandStep> {
    let words = split_words(command);
    let mut steps = Vec::new();
    let mut start = 0;
    for i in 0..=words.len() {
        let then = match words.get(i) {
            None if is_here_document(&words) => StepJoin::Document,
            None => StepJoin::End,
            Some(word) => match join_of_operator(&words, i, word) {
                Some(join) => join,
                None => continue,
            },
        };
        let piece = &words[start..i];
        start = i + 1;
        let kept: Vec<&ShellWord> = indexes_without_redirections(piece).map(|at| &piece[at]).collect();
        if kept.is_empty() {
            // Adjacent operators count as one, as in `make |& tail` and `( a ) && b`.
            if let (Some(last), false) = (steps.last_mut(), matches!(then, StepJoin::Next | StepJoin::End)) {
                let last: &mut CommandStep = last;
                last.merges_stderr |= last.join_to_next == StepJoin::Pipe && then == StepJoin::Background;
                last.join_to_next = if last.join_to_next == StepJoin::Pipe { StepJoin::Pipe } else { then };
            }
            continue;
        }
        let merges = |pair: &[ShellWord]| {
            pair[0].is_operator && (pair[0].text == ">&" && pair[1].text == "1" || pair[0].text == "&")
        };
        let merges_stderr = piece.windows(2).any(merges);
        let spans = kept.iter().map(|word| word.span.clone()).collect();
        let words = kept.into_iter().map(|word| word.text.clone()).collect();
        steps.push(CommandStep { words, word_ranges: spans, join_to_next: then, merges_stderr });
    }
    // A line break after the last command joins nothing, so the command ends the line.
    if let Some(last) = steps.last_mut()
        && last.join_to_next == StepJoin::Next
    {
        last.join_to_next = StepJoin::End;
    }
    steps
}

/// Returns how the operator at `i` joins the commands around it, or `None` if it is a redirection or not an operator.
fn join_of_operator(words: &[ShellWord], i: usize, word: &ShellWord) -> Option<StepJoin> {
    let redirects = |next: &ShellWord| next.is_operator && next.text.starts_with('>');
    match word.text.as_str() {
        _ if !word.is_operator => None,
        "&&" => Some(StepJoin::And),
        "||" => Some(StepJoin::Or),
        "|" => Some(StepJoin::Pipe),
        // `&> file` is a redirection.
        "&" if words.get(i + 1).is_some_and(redirects) => None,
        "&" => Some(StepJoin::Background),
        text if text.starts_with(['<', '>']) => None,
        // The operator is `;`, a line break or a parenthesis.
        _ => Some(StepJoin::Next),
    }
}

/// Returns the end of the last input redirection, such as `< file`, in the text after the words of a command. Returns
/// `None` if the command has no input redirection.
pub(crate) fn end_of_input_redirection(text: &str) -> Option<usize> {
    let words = split_words(text);
    let redirections =
        words.iter().take_while(|word| !word.is_operator || word.text.starts_with(['<', '>', '&']));
    let own = &words[..redirections.count()];
    let is_input = |pair: &&[ShellWord]| {
        pair[0].is_operator && matches!(pair[0].text.as_str(), "<" | "<<<") && !pair[1].is_operator
    };
    own.windows(2).rfind(is_input).map(|pair| pair[1].span.end)
}

fn is_here_document(words: &[ShellWord]) -> bool {
    words.last().is_some_and(|word| word.is_operator && word.text == "<<")
}

/// Returns the position after the here-document whose `<<` is at `at`.
pub(crate) fn here_document_end(text: &str, at: usize) -> usize {
    let (head, body) = text[at..].split_once('\n').unwrap_or((&text[at..], ""));
    let name = head.trim_start_matches(['<', '-', ' ']);
    let name: String = name
        .chars()
        .take_while(|c| !c.is_whitespace() && *c != ')')
        .filter(|c| !matches!(c, '\'' | '"' | '\\'))
        .collect();
    let mut end = text.len() - body.len();
    for line in body.split_inclusive('\n') {
        end += line.len();
        if line.trim() == name
            || line.trim_start().strip_prefix(name.as_str()).is_some_and(|rest| rest.trim() == ")")
        {
            // Stop right after the end marker, because a closing parenthesis may follow it on the same line.
            return end - line.len() + line.find(&name).unwrap_or(0) + name.len();
        }
    }
    text.len()
}

/// Returns the words without redirections. For `2>&1`, the descriptor before the operator and the target after it are
/// also dropped.
fn without_redirections(words: &[ShellWord]) -> Vec<String> {
    indexes_without_redirections(words).map(|at| words[at].text.clone()).collect()
}

/// Returns the indexes of the words that are not part of a redirection.
fn indexes_without_redirections(words: &[ShellWord]) -> impl Iterator<Item = usize> {
    let is_target = |i: usize| i > 0 && words[i - 1].is_operator;
    let is_descriptor = |i: usize| {
        words.get(i + 1).is_some_and(|next| next.is_operator)
            && words[i].text.bytes().all(|b| b.is_ascii_digit())
    };
    (0..words.len()).filter(move |i| !words[*i].is_operator && !is_target(*i) && !is_descriptor(*i))
}

#[derive(Debug, PartialEq, Eq)]
struct ShellWord {
    text: String,
    is_quoted: bool,
    /// Whether this is an operator, such as `>`, `<`, `|`, `;`, `&&` or a line break.
    is_operator: bool,
    /// The range in the line, including quotes.
    span: Range<usize>,
}

/// Splits a line into words and operators much as a shell does, respecting quotes and escapes. Parsing stops at a
/// here-document.
fn split_words(command: &str) -> Vec<ShellWord> {
    let mut words = Vec::new();
    let mut word = UnfinishedShellWord::default();
    let mut chars = command.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' | '"' => {
                word.begin_word(at);
                word.is_quoted = true;
                while let Some((_, inner)) = chars.next() {
                    match inner {
                        _ if inner == c => break,
                        '\\' if c == '"' => word.text.extend(chars.next().map(|(_, next)| next)),
                        _ => word.text.push(inner),
                    }
                }
            }
            '\\' => {
                word.begin_word(at);
                word.text.extend(chars.next().map(|(_, next)| next).filter(|next| *next != '\n'));
            }
            ' ' | '\t' => word.close_word(&mut words, at),
            '\n' | ';' | '|' | '&' | '<' | '>' | '(' | ')' => {
                // The number in `2>` is part of the operator.
                if matches!(c, '<' | '>') && word.text.chars().all(|digit| digit.is_ascii_digit()) {
                    word = UnfinishedShellWord::default();
                }
                word.close_word(&mut words, at);
                let mut operator = String::from(c);
                while let Some((_, next)) =
                    chars.next_if(|(_, next)| *next == c && c != '\n' || c == '>' && *next == '&')
                {
                    operator.push(next);
                }
                let is_document = operator == "<<";
                let span = at..at + operator.len();
                words.push(ShellWord { text: operator, is_quoted: false, is_operator: true, span });
                if is_document {
                    return words; // a here-document follows
                }
            }
            '#' if word.start.is_none() => while chars.next_if(|(_, next)| *next != '\n').is_some() {},
            _ => {
                word.begin_word(at);
                word.text.push(c);
            }
        }
    }
    word.close_word(&mut words, command.len());
    words
}

/// The word currently being read.
#[derive(Default)]
struct UnfinishedShellWord {
    text: String,
    is_quoted: bool,
    start: Option<usize>,
}

impl UnfinishedShellWord {
    fn begin_word(&mut self, at: usize) {
        self.start.get_or_insert(at);
    }

    fn close_word(&mut self, words: &mut Vec<ShellWord>, at: usize) {
        let UnfinishedShellWord { text, is_quoted, start } = std::mem::take(self);
        if let Some(start) = start {
            words.push(ShellWord { text, is_quoted, is_operator: false, span: start..at });
        }
    }
}

/// Splits words into simple commands that include their redirections.
fn split_commands(words: &[ShellWord]) -> impl Iterator<Item = &[ShellWord]> {
    let ends = |word: &ShellWord| word.is_operator && !word.text.starts_with(['<', '>']);
    words.split(ends).filter(|command| !command.is_empty())
}

/// Returns the paths in one simple command.
fn paths_of_command(words: &[ShellWord]) -> Vec<(String, FileAction)> {
    let mut found = Vec::new();
    let skip = words.iter().take_while(|word| is_before_program(word)).count();
    let words = &words[skip..];
    let program = words.first().map_or("", |word| word.text.rsplit('/').next().unwrap_or(""));
    let arguments = words.get(1..).unwrap_or_default();
    let in_place = arguments.iter().any(|word| is_in_place_option(program, &word.text));
    let Some(usual) = action_of_program(program, arguments, in_place) else {
        return redirected_files(words);
    };
    // On macOS, `sed -i ''` has an empty operand before the script.
    let is_operand = |word: &ShellWord| !word.text.starts_with('-') && !word.text.is_empty();
    let pattern = match program {
        "grep" | "rg" | "sed" | "gsed" | "awk" | "jq" => arguments.iter().position(is_operand),
        _ => None,
    };
    // Every operand of an editor is a file, even if it has no extension.
    let is_file = |word: &ShellWord| match in_place {
        true => is_plain_path_word(word),
        false => is_path_word(word),
    };
    for (i, word) in arguments.iter().enumerate() {
        let before = i.checked_sub(1).map(|before| &arguments[before]);
        let target =
            before.is_some_and(|before| before.is_operator || takes_an_expression(program, &before.text));
        if !word.is_operator && !target && Some(i) != pattern && is_file(word) {
            found.push((word.text.clone(), usual));
        }
    }
    // The last argument of `cp` and `mv` is the file that is written.
    let moves = program == "git" && arguments.first().is_some_and(|word| word.text == "mv");
    if (matches!(program, "cp" | "mv") || moves)
        && let [first @ .., last] = found.as_mut_slice()
        && !first.is_empty()
    {
        last.1 = FileAction::Edit;
    }
    found.extend(redirected_files(words));
    found
}

/// Returns whether the word after an option is an expression or code rather than a path, as in
/// `gh pr view -q .author.login`.
fn takes_an_expression(program: &str, option: &str) -> bool {
    let runs_code = program.starts_with("python") || matches!(program, "node" | "ruby" | "perl" | "php");
    // The flags before `e` may be in the same word, as in `perl -pie` and `sed -Ee`.
    let has_script_flag = |option: &str| {
        option.strip_prefix('-').is_some_and(|flags| !flags.starts_with('-') && flags.ends_with('e'))
    };
    matches!(option, "--jq" | "--template")
        || program == "gh" && matches!(option, "-q" | "-t")
        || runs_code && matches!(option, "-m" | "-c")
        || (runs_code || matches!(program, "sed" | "gsed"))
            && (has_script_flag(option) || option == "--expression")
}

/// Returns whether an option makes a program change its files in place, as `-i`, `-i.bak` and `-pi` do.
pub(crate) fn is_in_place_option(program: &str, option: &str) -> bool {
    let Some(flags) = option.strip_prefix('-') else { return false };
    match program {
        "sed" | "gsed" if flags.starts_with('-') => flags.starts_with("-in-place"),
        "sed" | "gsed" => {
            flags.starts_with('i') || flags.split('.').next().is_some_and(|flags| flags.ends_with('i'))
        }
        "perl" | "ruby" => !flags.starts_with('-') && flags.contains('i'),
        _ => false,
    }
}

/// Returns the files in redirections. `> file` writes the file, and `< file` reads it.
fn redirected_files(words: &[ShellWord]) -> Vec<(String, FileAction)> {
    let targets = words.windows(2).filter(|pair| pair[0].is_operator && is_path_word(&pair[1]));
    let action = |operator: &str| if operator.starts_with('>') { FileAction::Edit } else { FileAction::Read };
    targets.map(|pair| (pair[1].text.clone(), action(&pair[0].text))).collect()
}

/// Returns whether a command line contains a parenthesis outside quotes, as a subshell or a substitution does.
pub fn has_parentheses(command: &str) -> bool {
    split_words(command).iter().any(|word| word.is_operator && word.text.starts_with(['(', ')']))
}

/// Returns whether a command line redirects output to a file whose path cannot be determined, such as `> "$OUT"`.
pub fn writes_unnamed_file(command: &str) -> bool {
    let words = split_words(command);
    let is_device = |text: &str| text.starts_with("/dev/") || text.starts_with('&');
    words.windows(2).any(|pair| {
        let (operator, target) = (&pair[0], &pair[1]);
        let writes = operator.is_operator && operator.text.starts_with('>') && !operator.text.contains('&');
        writes && !target.is_operator && !is_device(&target.text) && !is_path_word(target)
    })
}

/// Returns whether a command line appends output to a file.
pub fn appends_to_file(command: &str) -> bool {
    split_words(command).iter().any(|word| word.is_operator && word.text.starts_with(">>"))
}

/// Returns what a program does to its file arguments, or `None` if its arguments are not files.
fn action_of_program(program: &str, arguments: &[ShellWord], in_place: bool) -> Option<FileAction> {
    let has = |options: &[&str]| arguments.iter().any(|word| options.contains(&word.text.as_str()));
    let edits_if = |condition: bool| if condition { FileAction::Edit } else { FileAction::Read };
    Some(match program {
        _ if in_place => FileAction::Edit,
        "cat" | "head" | "tail" | "less" | "bat" | "wc" | "diff" | "grep" | "rg" | "jq" | "stat" | "file"
        | "source" | "awk" | "nl" | "sort" | "md5sum" | "sha256sum" | "xxd" => FileAction::Read,
        "sed" | "gsed" => FileAction::Read,
        "touch" | "tee" | "chmod" | "truncate" => FileAction::Edit,
        "rustfmt" | "black" => edits_if(!has(&["--check", "--diff"])),
        "prettier" => edits_if(has(&["--write", "-w"])),
        "gofmt" => edits_if(has(&["-w"])),
        "mv" => FileAction::Delete,
        "cp" => FileAction::Read,
        "rm" | "unlink" => FileAction::Delete,
        // Most git arguments are refs, which look like paths because they may contain slashes. Only the arguments of
        // these subcommands are files.
        "git" => match arguments.first().map_or("", |word| word.text.as_str()) {
            // Staging a file does not change it, and neither does unstaging it.
            "add" => FileAction::Mention,
            "restore" if has(&["--staged", "-S"]) && !has(&["--worktree", "-W", "-SW"]) => {
                FileAction::Mention
            }
            "restore" => FileAction::Edit,
            "rm" | "mv" => FileAction::Delete,
            "blame" | "diff" => FileAction::Read,
            _ => return None,
        },
        "echo" | "printf" | "ssh" | "scp" | "rsync" | "curl" | "wget" | "docker" | "kubectl" | "export"
        | "ls" | "find" | "mkdir" | "rmdir" | "cd" | "test" | "[" => return None,
        _ => FileAction::Mention,
    })
}

/// Returns whether a word precedes the program's name, such as `FOO=bar`, `sudo` or `npx`.
fn is_before_program(word: &ShellWord) -> bool {
    let assigns = word.text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    });
    let starters = ["sudo", "time", "nohup", "env", "exec", "command", "npx", "bunx", "pnpx"];
    assigns || starters.contains(&word.text.as_str())
}

fn is_literal_word(word: &ShellWord) -> bool {
    !word.is_operator
        && !word.text.is_empty()
        && !word.text.contains(['$', '`', '*', '?', '[', '{', '~', '\n'])
}

/// Returns whether a word has an extension or starts like a path, and is not an option, a pattern, a variable or a
/// URL.
fn is_path_word(word: &ShellWord) -> bool {
    let text = word.text.as_str();
    if !is_plain_path_word(word) {
        return false;
    }
    let last = text.rsplit('/').next().unwrap_or("");
    let extension =
        last.rsplit_once('.').map_or("", |(stem, extension)| if stem.is_empty() { "" } else { extension });
    let has_extension = (1..=8).contains(&extension.len())
        && extension.bytes().all(|b| b.is_ascii_alphanumeric())
        && extension.bytes().any(|b| b.is_ascii_alphabetic());
    let begins_like_one = text.starts_with("./") || text.starts_with("../") || text.starts_with('/');
    has_extension || begins_like_one && !last.is_empty()
}

/// Returns whether a word may be a path, judging by its characters. It is not an option, a pattern, a variable or a URL.
fn is_plain_path_word(word: &ShellWord) -> bool {
    let text = word.text.as_str();
    if !is_literal_word(word)
        || text.len() > 300
        || text.starts_with('-')
        || text.contains("://")
        || text.contains("...")
    {
        return false;
    }
    let plain = |c: char| {
        c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '+' | '@') || c == ' ' && word.is_quoted
    };
    if !text.chars().all(plain) || text.starts_with("/dev/") || text.starts_with("/proc/") {
        return false;
    }
    // `main...HEAD`, `7502f36..cd27c7e` and `./...` are ranges or patterns and not files.
    !text.split('/').any(|part| part.contains("..") && part != "..")
}

fn join_paths(base: &str, path: &str) -> String {
    match base.is_empty() || path.starts_with('/') {
        true => path.to_owned(),
        false => format!("{}/{path}", base.trim_end_matches('/')),
    }
}

fn action_strength(action: FileAction) -> u8 {
    match action {
        FileAction::Mention => 0,
        FileAction::Read => 1,
        FileAction::Delete => 2,
        FileAction::Edit => 3,
        FileAction::Create => 4,
    }
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
