//! Generates unusual and common settings files. A list of choices determines the file. When the list runs out, every
//! further choice is 0, the simplest, so that a failing file can be reduced to a smaller one.

pub struct Choices<'a> {
    bytes: &'a [u8],
    at: usize,
    style: FileStyle,
}

#[derive(Clone, Copy)]
struct FileStyle {
    /// How white space is used. 0: the file is minified. 1: it is on one line, with spaces. 2: it is on several lines.
    /// 3: it contains random white space.
    spacing: usize,
    line_end: &'static str,
    unit: &'static str,
    comments: bool,
    trailing_commas: bool,
}

/// Generates a valid file without our hooks. If `top` is true, events are top-level keys.
pub fn generate_file(bytes: &[u8], top: bool) -> String {
    let style = FileStyle { spacing: 0, line_end: "\n", unit: "  ", comments: false, trailing_commas: false };
    let mut choices = Choices { bytes, at: 0, style };
    choices.style = FileStyle {
        spacing: choices.pick_below(4),
        line_end: choices.one_of(&["\n", "\r\n", "\r"]),
        unit: choices.one_of(&["  ", "    ", "\t", "", " ", "   "]),
        comments: choices.pick_below(2) == 1,
        trailing_commas: choices.pick_below(2) == 1,
    };
    let mark = choices.one_of(&["", "", "", "\u{feff}"]);
    if choices.pick_below(24) == 23 {
        return format!("{mark}{}", choices.one_of(&["", " ", "\n", "\r\n\r\n", "\t\n "]));
    }
    let before = choices.generate_outer_white_space();
    let root = if top { choices.generate_events(0) } else { choices.generate_root() };
    let after = choices.generate_outer_white_space();
    let end = choices.one_of(&["", "\n", "\r\n", "\n\n"]);
    format!("{mark}{before}{root}{after}{end}")
}

impl Choices<'_> {
    pub fn pick_below(&mut self, below: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        usize::from(byte) % below
    }

    fn one_of(&mut self, list: &[&'static str]) -> &'static str {
        list[self.pick_below(list.len())]
    }

    fn generate_root(&mut self) -> String {
        let count = self.pick_below(5);
        let hooks = self.pick_below(count + 2);
        let mut members = Vec::new();
        for index in 0..count {
            if index == hooks {
                members.push(self.generate_member("hooks", |choices| choices.generate_events(1)));
            }
            let key = self.one_of(&["a", "model", "permissions", "é", "x\\\"y", "Stop", "env"]);
            members.push(self.generate_member(key, |choices| choices.generate_value(1)));
        }
        if hooks == count {
            let key = self.one_of(&["hooks", "hooks", "h\\u006foks"]);
            members.push(self.generate_member(key, |choices| choices.generate_events(1)));
        }
        self.generate_object(0, members)
    }

    fn generate_events(&mut self, depth: usize) -> String {
        let names = ["Stop", "SessionStart", "PostToolUse", "Notification", "St\\u006fpped"];
        let mut members = Vec::new();
        for name in names {
            if self.pick_below(3) == 1 {
                members.push(self.generate_member(name, |choices| {
                    let groups =
                        (0..choices.pick_below(4)).map(|_| choices.generate_group(depth + 2)).collect();
                    choices.generate_array(depth + 1, groups)
                }));
            }
        }
        self.generate_object(depth, members)
    }

    fn generate_group(&mut self, depth: usize) -> String {
        let mut members = Vec::new();
        if self.pick_below(2) == 1 {
            members.push(self.generate_member("matcher", |_| "\"Bash|Edit\"".into()));
        }
        if self.pick_below(5) > 0 {
            members.push(self.generate_member("hooks", |choices| {
                let hooks = (0..choices.pick_below(3)).map(|_| choices.generate_hook(depth + 2)).collect();
                choices.generate_array(depth + 1, hooks)
            }));
        }
        self.generate_object(depth, members)
    }

    fn generate_hook(&mut self, depth: usize) -> String {
        let commands =
            ["\"say \\\"done\\\"\"", "\"~/x.sh\"", "\"thru-not hook\"", "\"a && thru hook b\"", "7"];
        let command = self.one_of(&commands);
        let members = vec![
            self.generate_member("type", |_| "\"command\"".into()),
            self.generate_member("command", |_| command.into()),
        ];
        self.generate_object(depth, members)
    }

    fn generate_value(&mut self, depth: usize) -> String {
        let kinds = if depth > 4 { 4 } else { 6 };
        match self.pick_below(kinds) {
            0 => self.one_of(&["1", "-0.5e+3", "true", "null"]).into(),
            1 => self.one_of(&["\"\"", "\"//x\"", "\"/*\"", "\"\\\\\"", "\"🦀\"", "\"{[,\""]).into(),
            2 => self.generate_array(depth, Vec::new()),
            3 => self.generate_object(depth, Vec::new()),
            4 => {
                let items = (0..self.pick_below(3)).map(|_| self.generate_value(depth + 1)).collect();
                self.generate_array(depth, items)
            }
            _ => {
                let members = (0..self.pick_below(3))
                    .map(|_| self.generate_member("k", |choices| choices.generate_value(depth + 1)));
                let members = members.collect();
                self.generate_object(depth, members)
            }
        }
    }

    fn generate_member(&mut self, key: &str, value: impl FnOnce(&mut Self) -> String) -> String {
        let value = value(self);
        match self.style.spacing {
            0 => format!("\"{key}\":{value}"),
            1 | 2 => format!("\"{key}\": {value}"),
            _ => format!("\"{key}\"{}:{}{value}", self.generate_white_space(), self.generate_white_space()),
        }
    }

    fn generate_object(&mut self, depth: usize, members: Vec<String>) -> String {
        self.generate_container('{', '}', depth, members)
    }

    fn generate_array(&mut self, depth: usize, items: Vec<String>) -> String {
        self.generate_container('[', ']', depth, items)
    }

    fn generate_container(&mut self, open: char, close: char, depth: usize, items: Vec<String>) -> String {
        let count = items.len();
        let mut out = String::from(open);
        for (index, item) in items.into_iter().enumerate() {
            out += &self.generate_space_before_item(depth + 1, index);
            out += &item;
            out += &self.generate_comment(6);
            if index + 1 < count || self.style.trailing_commas && self.pick_below(3) > 0 {
                out.push(',');
            }
            out += &self.generate_comment(8);
        }
        out += &match (self.style.spacing, count) {
            (0, 0) => self.generate_comment(6),
            (1 | 2, 0) => self
                .one_of(&["", "", " ", "\n", "\r\n", "\n  ", " \n", "\n\n", " // c\n", "/* c */"])
                .to_owned(),
            (0, _) => String::new(),
            (1, _) => self.one_of(&["", " "]).to_owned(),
            (2, _) => self.generate_line_break(depth),
            _ => self.generate_white_space(),
        };
        // Strict files contain no comments, not even in an empty container.
        if !self.style.comments && count == 0 {
            out = out.replace(" // c", "").replace("/* c */", "");
        }
        out.push(close);
        out
    }

    fn generate_space_before_item(&mut self, depth: usize, index: usize) -> String {
        match self.style.spacing {
            0 => String::new(),
            1 => if index == 0 { "" } else { " " }.to_owned(),
            // Sometimes omit the white space inside the brackets.
            2 => match self.pick_below(8) {
                7 => String::new(),
                _ => self.generate_line_break(depth) + &self.generate_comment(10),
            },
            _ => self.generate_white_space(),
        }
    }

    fn generate_line_break(&mut self, depth: usize) -> String {
        format!("{}{}", self.style.line_end, self.style.unit.repeat(depth))
    }

    /// Returns white space to put before or after the whole file.
    fn generate_outer_white_space(&mut self) -> String {
        if self.style.spacing < 2 { String::new() } else { self.generate_white_space() }
    }

    /// Returns a comment with probability 1/`times` if this file may contain comments. In all other cases, returns an
    /// empty string.
    fn generate_comment(&mut self, times: usize) -> String {
        if !self.style.comments || self.pick_below(times) + 1 < times {
            return String::new();
        }
        let line = format!(" // it's \"{{[\"{}", self.style.line_end);
        [line, "/**/".into(), " /* a, b } */ ".into(), "/*\n*/".into()][self.pick_below(4)].clone()
    }

    fn generate_white_space(&mut self) -> String {
        let mut out = String::new();
        for _ in 0..self.pick_below(4) {
            out += self.one_of(&[" ", "\n", "\t", "\r\n", "  ", "\r", "\n    "]);
            out += &self.generate_comment(6);
        }
        out
    }
}
