//! Classifies the lines of a markdown file.

use super::super::TaskStatus;
use super::label::{self, ListMeaning};
use super::phase::parse_explicit_phase_heading;
use super::{item, table};

#[derive(Debug)]
pub struct PlanSourceLine {
    pub line: usize,
    /// The column of the text.
    pub indent: usize,
    pub kind: PlanLineKind,
    /// Whether the heading above contains a word that suggests a list of steps.
    pub under_steps_heading: bool,
    /// The number of the explicit phase that contains the line, counted from 1, or 0 if there is none.
    pub phase: usize,
    /// The number of the nearest heading, counted from 1, or 0 if there is none. For a heading, this is its own number.
    pub heading: usize,
    /// What a list at this line contains, according to the heading or label above it.
    pub list_meaning: ListMeaning,
    /// Whether the line is an item of a list below a label such as `Tasks:`.
    pub in_labelled_tasks: bool,
}

#[derive(Debug)]
pub enum PlanLineKind {
    Blank,
    Heading {
        level: usize,
        text: String,
    },
    /// An item with a checkbox, such as `- [x] text`.
    Checkbox {
        mark: CheckboxMark,
        text: String,
    },
    Numbered {
        number: u32,
        text: String,
    },
    Bullet {
        text: String,
    },
    Text {
        text: String,
    },
    /// A comment that thru wrote.
    OwnComment(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckboxMark {
    Certain(TaskStatus),
    /// An ambiguous character, with its likely meaning.
    Likely(TaskStatus, char),
}

/// Words in a heading that suggest a list of steps.
const STEP_HEADING_WORDS: [&str; 20] = [
    "step",
    "plan",
    "task",
    "implement",
    "todo",
    "to do",
    "order",
    "change",
    "approach",
    "milestone",
    "roadmap",
    "phase",
    "execution",
    "next",
    "queue",
    "backlog",
    "track",
    "步骤",
    "任务",
    "计划",
];

pub fn split_source_lines(text: &str) -> Vec<PlanSourceLine> {
    let lines: Vec<&str> = text.lines().collect();
    let mut scan = PlanLineClassifier {
        reads_states: is_state_table_task_list(&lines),
        ..PlanLineClassifier::default()
    };
    let mut fence: Option<&str> = None;
    let mut in_comment = false;
    let mut table_end = 0;
    for (number, line) in lines.iter().enumerate() {
        let trimmed = line.trim();
        if number < table_end {
            continue;
        }
        if let Some(open) = fence {
            if trimmed.starts_with(open) && trimmed.trim_matches(['`', '~']).is_empty() {
                fence = None;
            }
            continue;
        }
        if let Some(open) = ["```", "~~~"].into_iter().find(|open| trimmed.starts_with(open)) {
            fence = Some(open);
            continue;
        }
        if in_comment {
            in_comment = !trimmed.contains("-->");
            continue;
        }
        if trimmed.starts_with("<!--") && !trimmed.starts_with(super::EXACT_FIELDS_COMMENT_START) {
            in_comment = !trimmed.contains("-->");
            continue;
        }
        if let Some(table) =
            table::read_task_table(&lines[number..]).filter(|table| scan.is_table_of_tasks(table))
        {
            table_end = number + table.line_count;
            scan.push_table(number + 1, table);
            continue;
        }
        let (indent, kind) = indent_and_kind(line, trimmed);
        scan.push_line(number + 1, indent, kind);
    }
    scan.lines
}

/// Returns whether a table of states can be the list of tasks. This requires that the file has no checkboxes and no
/// headings of tasks or phases.
fn is_state_table_task_list(lines: &[&str]) -> bool {
    !lines.iter().any(|line| match indent_and_kind(line, line.trim()).1 {
        PlanLineKind::Checkbox { .. } => true,
        PlanLineKind::Heading { text, .. } => {
            parse_explicit_phase_heading(&text).is_some() || item::is_task_heading(&text)
        }
        _ => false,
    })
}

/// The lines read so far, and the context of the next line.
#[derive(Default)]
struct PlanLineClassifier {
    lines: Vec<PlanSourceLine>,
    reads_states: bool,
    /// The headings whose sections contain the current line, outermost first. Each entry has the level of a heading and
    /// the meaning of the lists below it.
    open_headings: Vec<(usize, ListMeaning)>,
    heading_count: usize,
    under_steps_heading: bool,
    /// The number of explicit phases so far.
    phase_count: usize,
    within: Option<usize>,
    /// What the list below the last label contains.
    label_meaning: Option<ListMeaning>,
    /// The indentation of an item such as `- Acceptance criteria:`, and the meaning of the items below it.
    item_label: Option<(usize, ListMeaning)>,
    /// The indentation and the number that the next item of a labelled list must have.
    expected_item: Option<(usize, u32)>,
}

impl PlanLineClassifier {
    fn push_line(&mut self, line: usize, indent: usize, kind: PlanLineKind) {
        let kind = match kind {
            PlanLineKind::Text { text } if self.within.is_some() => bold_heading(text),
            kind => kind,
        };
        let is_item = matches!(
            kind,
            PlanLineKind::Checkbox { .. } | PlanLineKind::Numbered { .. } | PlanLineKind::Bullet { .. }
        );
        if is_item && self.item_label.is_some_and(|(at, _)| indent <= at) {
            self.item_label = None;
        }
        match &kind {
            PlanLineKind::Heading { level, text } => self.enter_heading(*level, text),
            // A label inside an item applies only to that item.
            PlanLineKind::Text { text } if indent < 2 => {
                if let Some(words) = label::label_words(text) {
                    (self.label_meaning, self.item_label) = (Some(label::meaning_of_list_label(words)), None);
                }
            }
            _ => {}
        }
        let in_labelled_tasks = self.continues_task_list(indent, &kind);
        let heading = self.open_headings.last().map_or(ListMeaning::Unlabelled, |(_, under)| *under);
        let said = self.label_meaning.filter(|label| *label != ListMeaning::Unlabelled);
        let under = self.item_label.map(|(_, under)| under).or(said).unwrap_or(heading);
        let phase = if self.within.is_some() { self.phase_count } else { 0 };
        if let PlanLineKind::Bullet { text } | PlanLineKind::Numbered { text, .. } = &kind
            && let Some(words) = label::label_at_item_end(text)
        {
            self.item_label = Some((indent, label::meaning_of_list_label(words)))
                .filter(|(_, under)| *under != ListMeaning::Unlabelled);
        }
        let (under_steps_heading, heading) = (self.under_steps_heading, self.heading_count);
        self.lines.push(PlanSourceLine {
            line,
            indent,
            kind,
            under_steps_heading,
            phase,
            heading,
            list_meaning: under,
            in_labelled_tasks,
        });
    }

    fn enter_heading(&mut self, level: usize, text: &str) {
        (self.label_meaning, self.item_label, self.expected_item) = (None, None, None);
        self.heading_count += 1;
        self.open_headings.retain(|(above, _)| *above < level);
        // Ignore the title of the file, because it does not describe the lists.
        let above = self
            .open_headings
            .last()
            .filter(|(above, _)| *above > 1)
            .map_or(ListMeaning::Unlabelled, |(_, under)| *under);
        self.open_headings.push((level, label::meaning_of_heading(text, above)));
        let lower = text.to_lowercase();
        self.under_steps_heading = STEP_HEADING_WORDS.iter().any(|word| lower.contains(word));
        if parse_explicit_phase_heading(text).is_some() {
            self.phase_count += 1;
            self.within = Some(level);
        } else if self.within.is_some_and(|of| level <= of) {
            self.within = None;
        }
    }

    /// Returns whether a line is in a list of tasks. A numbered list below `Tasks:` continues after another label if
    /// its numbers continue.
    fn continues_task_list(&mut self, indent: usize, kind: &PlanLineKind) -> bool {
        let labelled = self.label_meaning == Some(ListMeaning::Tasks) && indent < 2;
        match kind {
            PlanLineKind::Numbered { number, .. } => {
                let is_one = labelled || self.expected_item == Some((indent, *number));
                if is_one {
                    self.expected_item = Some((indent, number.saturating_add(1)));
                }
                is_one
            }
            PlanLineKind::Bullet { .. } => labelled,
            _ => false,
        }
    }

    fn is_table_of_tasks(&self, table: &table::TaskTable) -> bool {
        let is_beside =
            self.open_headings.last().is_some_and(|(_, under)| *under == ListMeaning::OtherContent);
        table.has_boxes || self.reads_states && self.under_steps_heading && !is_beside
    }

    fn push_table(&mut self, first: usize, table: table::TaskTable) {
        for row in table.rows {
            self.push_line(first + row.line, 0, PlanLineKind::Checkbox { mark: row.mark, text: row.text });
            row.fields
                .into_iter()
                .for_each(|text| self.push_line(first + row.line, 2, PlanLineKind::Bullet { text }));
        }
    }
}

fn indent_and_kind(line: &str, trimmed: &str) -> (usize, PlanLineKind) {
    let indent =
        line.chars().take_while(|c| matches!(c, ' ' | '\t')).map(|c| if c == '\t' { 4 } else { 1 }).sum();
    let text = || trimmed.to_owned();
    if trimmed.is_empty() || trimmed.len() >= 3 && trimmed.bytes().all(|b| b == b'-') {
        return (indent, PlanLineKind::Blank);
    }
    if let Some(json) = trimmed
        .strip_prefix(super::EXACT_FIELDS_COMMENT_START)
        .and_then(|rest| rest.strip_suffix(super::EXACT_FIELDS_COMMENT_END))
    {
        return (indent, PlanLineKind::OwnComment(json.to_owned()));
    }
    let level = trimmed.bytes().take_while(|b| *b == b'#').count();
    if (1..=6).contains(&level) && indent < 4 && trimmed[level..].starts_with([' ', '\t']) || trimmed == "#" {
        return (indent, PlanLineKind::Heading { level, text: trimmed[level..].trim().to_owned() });
    }
    if let Some(rest) = ["- ", "* ", "+ "].into_iter().find_map(|mark| trimmed.strip_prefix(mark)) {
        return (
            indent,
            parse_checkbox(rest.trim_start())
                .unwrap_or_else(|| PlanLineKind::Bullet { text: rest.trim().to_owned() }),
        );
    }
    if let Some((number, rest)) = split_number_and_text(trimmed) {
        return (
            indent,
            parse_checkbox(rest).unwrap_or_else(|| PlanLineKind::Numbered { number, text: rest.to_owned() }),
        );
    }
    (indent, PlanLineKind::Text { text: text() })
}

/// Reads `**5.1 — Name**` at the start of a line in a phase as a heading, because some people write task headings this
/// way.
fn bold_heading(text: String) -> PlanLineKind {
    let is_task = text.strip_prefix("**").is_some_and(item::is_task_heading) && text[2..].contains("**");
    match is_task {
        true => PlanLineKind::Heading { level: DEEPER_THAN_ANY_HEADING, text: text.replacen("**", "", 2) },
        false => PlanLineKind::Text { text },
    }
}

/// A level deeper than any markdown heading, so a heading of this level never ends another heading.
const DEEPER_THAN_ANY_HEADING: usize = 7;

/// Splits `3. text` or `3) text` into the number and the text.
fn split_number_and_text(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let number = text[..end].parse().ok()?;
    let rest = text[end..].strip_prefix(['.', ')'])?;
    rest.starts_with([' ', '\t']).then(|| (number, rest.trim()))
}

/// Parses an item with a checkbox, such as `[x] text` or `[BLOCKED] text`. A link such as `[text](to)` is not a
/// checkbox.
fn parse_checkbox(text: &str) -> Option<PlanLineKind> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    if rest.starts_with(['(', '[', ':']) {
        return None;
    }
    Some(PlanLineKind::Checkbox { mark: parse_box_mark(inside)?, text: rest.trim().to_owned() })
}

/// Returns the state that the mark in a checkbox stands for.
pub fn parse_box_mark(inside: &str) -> Option<CheckboxMark> {
    let mut chars = inside.chars();
    Some(match (chars.next(), chars.next()) {
        (None | Some(' ' | '\u{a0}' | '☐'), None) => CheckboxMark::Certain(TaskStatus::Pending),
        (Some('x' | 'X' | 'v' | 'V' | '✓' | '✔' | '✅' | '☑'), _) if inside.chars().count() <= 2 => {
            CheckboxMark::Certain(TaskStatus::Completed)
        }
        (Some('!' | '⛔'), _) if inside.chars().count() <= 2 => CheckboxMark::Certain(TaskStatus::Blocked),
        (Some('~' | '>' | '/' | '.' | '🔄'), None) => CheckboxMark::Certain(TaskStatus::InProgress),
        (Some(sign @ ('-' | '?' | 'o')), None) => CheckboxMark::Likely(TaskStatus::InProgress, sign),
        _ if inside.trim().is_empty() => CheckboxMark::Certain(TaskStatus::Pending),
        _ => CheckboxMark::Certain(TaskStatus::parse(inside).filter(|_| inside.len() > 2)?),
    })
}
