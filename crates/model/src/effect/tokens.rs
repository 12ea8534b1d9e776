//! Splits a command line into words and operators, much as a shell does.

use crate::shell::here_document_end;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ShellToken {
    Word {
        text: String,
        /// The commands inside the word's `$( … )` substitutions.
        substituted_commands: Vec<String>,
        is_quoted: bool,
    },
    /// An operator: `;`, `&&`, `||`, `|`, `&`, a line break or a parenthesis.
    Operator(&'static str),
    /// A redirection such as `>` or `2>&1`. The fields tell whether it redirects stdout and whether the next word is
    /// its target.
    Redirect { redirects_stdout: bool, has_target: bool },
}

pub(super) fn split_tokens(command: &str) -> Vec<ShellToken> {
    let mut reader = TokenReader {
        unread_text: command,
        pending_here_documents: Vec::new(),
        tokens: Vec::new(),
        open_word: None,
    };
    while let Some(c) = reader.take_char() {
        reader.read_char(c);
    }
    reader.close_word();
    reader.tokens
}

struct TokenReader<'a> {
    unread_text: &'a str,
    /// The end markers of the here-documents that begin after this line.
    pending_here_documents: Vec<String>,
    tokens: Vec<ShellToken>,
    open_word: Option<(String, Vec<String>, bool)>,
}

impl<'a> TokenReader<'a> {
    fn take_char(&mut self) -> Option<char> {
        let c = self.unread_text.chars().next()?;
        self.unread_text = &self.unread_text[c.len_utf8()..];
        Some(c)
    }

    fn skip_if_next(&mut self, text: &str) -> bool {
        let found = self.unread_text.strip_prefix(text);
        self.unread_text = found.unwrap_or(self.unread_text);
        found.is_some()
    }

    fn take_word(&mut self) -> &mut (String, Vec<String>, bool) {
        self.open_word.get_or_insert_with(Default::default)
    }

    fn close_word(&mut self) {
        if let Some((text, runs, quoted)) = self.open_word.take() {
            self.tokens.push(ShellToken::Word { text, substituted_commands: runs, is_quoted: quoted });
        }
    }

    fn push_operator(&mut self, mark: &'static str) {
        self.close_word();
        self.tokens.push(ShellToken::Operator(mark));
    }

    fn read_char(&mut self, c: char) {
        match c {
            ' ' | '\t' | '\r' => self.close_word(),
            '\n' => {
                self.push_operator(";");
                self.skip_here_documents();
            }
            '\\' => {
                if !self.skip_if_next("\n")
                    && let Some(next) = self.take_char()
                {
                    self.take_word().0.push(next);
                }
            }
            '\'' => {
                let end = self.unread_text.find('\'').unwrap_or(self.unread_text.len());
                let text = &self.unread_text[..end];
                self.take_word().0.push_str(text);
                self.take_word().2 = true;
                self.unread_text = self.unread_text.get(end + 1..).unwrap_or("");
            }
            '"' => self.read_quoted(),
            '$' if self.unread_text.starts_with('(') => {
                self.take_char();
                self.read_substitution();
            }
            '`' => {
                let end = self.unread_text.find('`').unwrap_or(self.unread_text.len());
                let inside = self.unread_text[..end].to_owned();
                self.take_word().1.push(inside);
                self.unread_text = self.unread_text.get(end + 1..).unwrap_or("");
            }
            '#' if self.open_word.is_none() => {
                self.unread_text = self.unread_text.find('\n').map_or("", |end| &self.unread_text[end..]);
            }
            ';' => {
                while self.skip_if_next(";") {}
                self.push_operator(";");
            }
            '|' => {
                let mark = if self.skip_if_next("|") { "||" } else { "|" };
                self.skip_if_next("&");
                self.push_operator(mark);
            }
            '&' if self.unread_text.starts_with('>') => {
                self.close_word();
                self.take_char();
                self.skip_if_next(">");
                self.tokens.push(ShellToken::Redirect { redirects_stdout: true, has_target: true });
            }
            '&' => {
                let mark = if self.skip_if_next("&") { "&&" } else { "&" };
                self.push_operator(mark);
            }
            '<' | '>' => self.read_redirect(c),
            '(' if self.open_word.is_some() && self.skip_if_next(")") => self.take_word().0.push_str("()"),
            '(' | ')' => self.push_operator(";"),
            _ => self.take_word().0.push(c),
        }
    }

    fn read_quoted(&mut self) {
        self.take_word().2 = true;
        while let Some(c) = self.take_char() {
            match c {
                '"' => return,
                '\\' => {
                    if let Some(next) = self.take_char()
                        && next != '\n'
                    {
                        self.take_word().0.push(next);
                    }
                }
                '$' if self.unread_text.starts_with('(') => {
                    self.take_char();
                    self.read_substitution();
                }
                _ => self.take_word().0.push(c),
            }
        }
    }

    /// Reads `$( … )`. The text is kept unchanged in the word, and also recorded as a separate command line.
    fn read_substitution(&mut self) {
        let end = closing_bracket_position(self.unread_text);
        let inside = self.unread_text[..end].to_owned();
        self.unread_text = self.unread_text.get(end + 1..).unwrap_or("");
        let word = self.take_word();
        word.0.push_str("$(");
        word.0.push_str(&inside);
        word.0.push(')');
        word.1.push(inside);
    }

    fn read_redirect(&mut self, c: char) {
        // The number in `2>` is part of the operator.
        let number = self.open_word.take_if(|word| !word.2 && word.0.bytes().all(|b| b.is_ascii_digit()));
        self.close_word();
        if c == '<' {
            if self.skip_if_next("<<") {
                // The word after `<<<` is the input itself. It is skipped like the target of a redirection.
                self.tokens.push(ShellToken::Redirect { redirects_stdout: false, has_target: true });
            } else if self.skip_if_next("<") {
                self.skip_if_next("-");
                let word: String = self
                    .unread_text
                    .trim_start_matches(' ')
                    .chars()
                    .take_while(|c| !c.is_whitespace() && !matches!(c, ')' | ';' | '|' | '&' | '>'))
                    .collect();
                let skip =
                    self.unread_text.len() - self.unread_text.trim_start_matches(' ').len() + word.len();
                self.unread_text = &self.unread_text[skip..];
                self.pending_here_documents
                    .push(word.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect());
            } else if self.skip_if_next("(") {
                self.push_operator(";");
            } else {
                self.tokens.push(ShellToken::Redirect { redirects_stdout: false, has_target: true });
            }
            return;
        }
        let is_output = number.is_none_or(|(text, ..)| text == "1" || text.is_empty());
        self.skip_if_next(">");
        self.skip_if_next("|");
        let to_descriptor = self.skip_if_next("&");
        if to_descriptor {
            let digits = self.unread_text.len()
                - self.unread_text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').len();
            self.unread_text = &self.unread_text[digits..];
        }
        self.tokens.push(ShellToken::Redirect {
            redirects_stdout: is_output && !to_descriptor,
            has_target: !to_descriptor,
        });
    }

    fn skip_here_documents(&mut self) {
        for end in std::mem::take(&mut self.pending_here_documents) {
            let mut rest = self.unread_text;
            while !rest.is_empty() {
                let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
                rest = after;
                if line.trim_start_matches('\t').trim_end() == end {
                    break;
                }
            }
            self.unread_text = rest;
        }
    }
}

/// Returns the position of the matching closing parenthesis, ignoring parentheses in quotes and here-documents.
fn closing_bracket_position(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (1_usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\'' => at += 1 + text[at + 1..].find('\'').unwrap_or(text.len() - at - 1),
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
            }
            b'<' if text[at..].starts_with("<<") && !text[at..].starts_with("<<<") => {
                at = here_document_end(text, at);
                continue;
            }
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}
