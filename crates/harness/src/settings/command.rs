//! The command of a hook, and how to recognise our own commands.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookCommand {
    /// A program that is started without a shell: `{"command": "/abs/thru", "args": ["hook", …]}`.
    Exec { program: String, args: Vec<String> },
    /// A line for `sh`.
    Shell(String),
}

impl HookCommand {
    /// Returns a shell line that runs `program` with `args`, each quoted if necessary.
    pub fn shell_command(program: &str, args: &[&str]) -> Self {
        HookCommand::Shell(join_shell_words(program, args))
    }

    /// Returns a shell line for settings files that are committed to git. The line finds `thru` on PATH, and exits
    /// with 0 if `thru` is not installed.
    pub fn shell_command_if_installed(args: &[&str]) -> Self {
        let line = join_shell_words("thru", args);
        HookCommand::Shell(format!("if command -v thru >/dev/null 2>&1; then {line}; fi"))
    }

    /// Returns whether this command runs only `thru hook`. If so, we may update or remove the entry. A line that also
    /// runs another command (`./mine.sh && thru hook …`) belongs to the user.
    ///
    /// Recognises `thru hook …` with any path and quoting. `exec` or `NAME=value` may come before the call, and
    /// redirections after it. A test for the program's existence may guard the call (`command -v`, `which`, `type`,
    /// `hash` or `[ -x … ]`, joined by `&&`, `;` or `if … then … fi`). `|| true`, `|| :` or `|| exit 0` may follow the
    /// call.
    pub fn is_thru_hook(&self) -> bool {
        match self {
            HookCommand::Exec { program, args } => {
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                is_thru_hook_call(program, &args)
            }
            HookCommand::Shell(line) => simple_commands(line).is_some_and(|commands| {
                let mut parts = commands.iter().map(|words| ShellCommandOwner::from_words(words));
                parts.clone().all(|part| part != ShellCommandOwner::Foreign)
                    && parts.any(|part| part == ShellCommandOwner::Ours)
            }),
        }
    }
}

#[derive(PartialEq)]
enum ShellCommandOwner {
    Ours,
    /// A command that changes nothing, such as `true` or a test for a program's existence.
    Harmless,
    Foreign,
}

impl ShellCommandOwner {
    fn from_words(words: &[String]) -> Self {
        let keyword = |word: &&String| {
            ["if", "then", "else", "fi", "exec", "!", "{", "}"].contains(&word.as_str())
                || is_assignment(word)
        };
        let words: Vec<&str> = words.iter().skip_while(keyword).map(String::as_str).collect();
        match words.as_slice() {
            [program, args @ ..] if is_thru_hook_call(program, args) => ShellCommandOwner::Ours,
            [] | ["true" | ":"] | ["exit", "0"] | ["command", "-v", _] | ["which" | "type" | "hash", _] => {
                ShellCommandOwner::Harmless
            }
            ["[", "-x", _, "]"] | ["test", "-x", _] => ShellCommandOwner::Harmless,
            _ => ShellCommandOwner::Foreign,
        }
    }
}

/// Returns whether a command runs our hook. A call to a copy of the program under another name (`thru-copy`) is
/// recognised by its three arguments.
fn is_thru_hook_call(program: &str, args: &[&str]) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    match args {
        ["hook", harness, _] if name.starts_with("thru") && crate::harness_by_name(harness).is_some() => true,
        ["hook", ..] => is_thru_program(program),
        _ => false,
    }
}

/// Returns whether a program is `thru`. Its name may contain a version, as in `thru-1.2`, but `thru-log` is another
/// program.
pub(super) fn is_thru_program(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let Some(rest) = name.strip_prefix("thru") else { return false };
    rest.is_empty()
        || rest.strip_prefix('-').is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn join_shell_words(program: &str, args: &[&str]) -> String {
    let words: Vec<String> = [program].iter().chain(args).map(|word| quote_shell_word(word)).collect();
    words.join(" ")
}

pub fn quote_shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Splits a line into its commands. Each command is a list of words without quotes and redirections. Returns `None` if
/// it is uncertain what the line runs, because it contains a substitution, a subshell or an unclosed quote.
pub(super) fn simple_commands(line: &str) -> Option<Vec<Vec<String>>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut target = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '`' => return None,
                        '$' if chars.peek() == Some(&'(') => return None,
                        '\\' if matches!(chars.peek(), Some('"' | '\\' | '$' | '`')) => {
                            word.extend(chars.next());
                        }
                        inner => word.push(inner),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '`' | '(' | ')' => return None,
            '<' | '>' => {
                // In `2>file`, the digit before `>` is the number of a stream, and the word after `>` is the target of
                // the redirection.
                let stream = word.take_if(|word| word.chars().all(|c| c.is_ascii_digit()));
                if stream.is_none() {
                    finish_word(&mut commands, &mut word, &mut target);
                }
                while chars.next_if(|c| matches!(c, '<' | '>' | '&' | '|')).is_some() {}
                target = true;
            }
            '&' if chars.peek() == Some(&'>') => finish_word(&mut commands, &mut word, &mut target),
            '&' | '|' | ';' | '\n' => {
                finish_word(&mut commands, &mut word, &mut target);
                while chars.next_if(|next| *next == c).is_some() {}
                commands.push(Vec::new());
            }
            c if c.is_whitespace() => finish_word(&mut commands, &mut word, &mut target),
            c => word.get_or_insert_default().push(c),
        }
    }
    finish_word(&mut commands, &mut word, &mut target);
    Some(commands)
}

fn finish_word(commands: &mut [Vec<String>], word: &mut Option<String>, target: &mut bool) {
    if let Some(word) = word.take()
        && !std::mem::take(target)
        && let Some(command) = commands.last_mut()
    {
        command.push(word);
    }
}
