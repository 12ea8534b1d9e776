//! Splits a command line into words and operators, much as a shell does.

use crate::shell::here_document_end;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ShellToken {
    Word {
        text: String,
        /// The commands inside the word's `$( … )` substitutions.
        runs: Vec<String>,
        quoted: bool,
    },
    /// An operator: `;`, `&&`, `||`, `|`, `&`, a line break or a parenthesis.
    Mark(&'static str),
    /// A redirection such as `>` or `2>&1`. The fields tell whether it redirects stdout and whether the next word is
    /// its target.
    Redirect { takes_output: bool, has_target: bool },
}

pub(super) fn split_tokens(command: &str) -> Vec<ShellToken> {
    let mut reader = TokenReader { rest: command, documents: Vec::new(), tokens: Vec::new(), word: None };
    while let Some(c) = reader.take_char() {
        reader.read_char(c);
    }
    reader.close_word();
    reader.tokens
}

struct TokenReader<'a> {
    rest: &'a str,
    /// The end markers of the here-documents that begin after this line.
    documents: Vec<String>,
    tokens: Vec<ShellToken>,
    word: Option<(String, Vec<String>, bool)>,
}

impl<'a> TokenReader<'a> {
    fn take_char(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn next_is(&mut self, text: &str) -> bool {
        let found = self.rest.strip_prefix(text);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn take_word(&mut self) -> &mut (String, Vec<String>, bool) {
        self.word.get_or_insert_with(Default::default)
    }

    fn close_word(&mut self) {
        if let Some((text, runs, quoted)) = self.word.take() {
            self.tokens.push(ShellToken::Word { text, runs, quoted });
        }
    }

    fn push_operator(&mut self, mark: &'static str) {
        self.close_word();
        self.tokens.push(ShellToken::Mark(mark));
    }

    fn read_char(&mut self, c: char) {
        match c {
            ' ' | '\t' | '\r' => self.close_word(),
            '\n' => {
                self.push_operator(";");
                self.skip_here_documents();
            }
            '\\' => {
                if !self.next_is("\n")
                    && let Some(next) = self.take_char()
                {
                    self.take_word().0.push(next);
                }
            }
            '\'' => {
                let end = self.rest.find('\'').unwrap_or(self.rest.len());
                let text = &self.rest[..end];
                self.take_word().0.push_str(text);
                self.take_word().2 = true;
                self.rest = self.rest.get(end + 1..).unwrap_or("");
            }
            '"' => self.read_quoted(),
            '$' if self.rest.starts_with('(') => {
                self.take_char();
                self.read_substitution();
            }
            '`' => {
                let end = self.rest.find('`').unwrap_or(self.rest.len());
                let inside = self.rest[..end].to_owned();
                self.take_word().1.push(inside);
                self.rest = self.rest.get(end + 1..).unwrap_or("");
            }
            '#' if self.word.is_none() => {
                self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]);
            }
            ';' => {
                while self.next_is(";") {}
                self.push_operator(";");
            }
            '|' => {
                let mark = if self.next_is("|") { "||" } else { "|" };
                self.next_is("&");
                self.push_operator(mark);
            }
            '&' if self.rest.starts_with('>') => {
                self.close_word();
                self.take_char();
                self.next_is(">");
                self.tokens.push(ShellToken::Redirect { takes_output: true, has_target: true });
            }
            '&' => {
                let mark = if self.next_is("&") { "&&" } else { "&" };
                self.push_operator(mark);
            }
            '<' | '>' => self.read_redirect(c),
            '(' if self.word.is_some() && self.next_is(")") => self.take_word().0.push_str("()"),
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
                '$' if self.rest.starts_with('(') => {
                    self.take_char();
                    self.read_substitution();
                }
                _ => self.take_word().0.push(c),
            }
        }
    }

    /// Reads `$( … )`. The text is kept unchanged in the word, and also recorded as a separate command line.
    fn read_substitution(&mut self) {
        let end = closing_bracket_position(self.rest);
        let inside = self.rest[..end].to_owned();
        self.rest = self.rest.get(end + 1..).unwrap_or("");
        let word = self.take_word();
        word.0.push_str("$(");
        word.0.push_str(&inside);
        word.0.push(')');
        word.1.push(inside);
    }

    fn read_redirect(&mut self, c: char) {
        // The number in `2>` is part of the operator.
        let number = self.word.take_if(|word| !word.2 && word.0.bytes().all(|b| b.is_ascii_digit()));
        self.close_word();
        if c == '<' {
            if self.next_is("<<") {
                // The word after `<<<` is the input itself.
                self.tokens.push(ShellToken::Redirect { takes_output: false, has_target: true });
            } else if self.next_is("<") {
                self.next_is("-");
                let word: String = self
                    .rest
                    .trim_start_matches(' ')
                    .chars()
                    .take_while(|c| !c.is_whitespace() && !matches!(c, ')' | ';' | '|' | '&' | '>'))
                    .collect();
                let skip = self.rest.len() - self.rest.trim_start_matches(' ').len() + word.len();
                self.rest = &self.rest[skip..];
                self.documents.push(word.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect());
            } else if self.next_is("(") {
                self.push_operator(";");
            } else {
                self.tokens.push(ShellToken::Redirect { takes_output: false, has_target: true });
            }
            return;
        }
        let is_output = number.is_none_or(|(text, ..)| text == "1" || text.is_empty());
        self.next_is(">");
        self.next_is("|");
        let to_descriptor = self.next_is("&");
        if to_descriptor {
            let digits = self.rest.len()
                - self.rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').len();
            self.rest = &self.rest[digits..];
        }
        self.tokens.push(ShellToken::Redirect {
            takes_output: is_output && !to_descriptor,
            has_target: !to_descriptor,
        });
    }

    fn skip_here_documents(&mut self) {
        for end in std::mem::take(&mut self.documents) {
            let mut rest = self.rest;
            while !rest.is_empty() {
                let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
                rest = after;
                if line.trim_start_matches('\t').trim_end() == end {
                    break;
                }
            }
            self.rest = rest;
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
