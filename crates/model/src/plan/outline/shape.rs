//! Classifies the lines of a markdown file, and decides what the whole file uses as phases and tasks.

use std::collections::HashSet;

use super::super::TaskStatus;
use super::item;

pub struct SourceLine {
    pub line: usize,
    /// The columns before the text.
    pub indent: usize,
    pub kind: Kind,
    /// Whether the heading above announces a list of steps.
    pub in_steps: bool,
    /// The number of the explicit phase that contains the line, counted from 1; 0 if there is none.
    pub phase: usize,
}

pub enum Kind {
    Blank,
    Heading {
        level: usize,
        text: String,
    },
    /// An item with a box, such as `- [x] text`.
    Check {
        mark: Mark,
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
    /// A comment of `thru` with exact fields.
    Exact(String),
}

/// The mark in a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    Is(TaskStatus),
    /// A character that is ambiguous, with its likeliest meaning.
    Likely(TaskStatus, char),
}

/// What a heading is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadingRole {
    Phase,
    Task,
    Section,
}

/// What the file uses as tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Checks,
    TaskHeadings,
    NumberedHeadings {
        level: usize,
    },
    /// The numbered items of each explicit phase, or its other items if none is numbered.
    InPhases,
    Numbered {
        only_steps: bool,
    },
    Bullets {
        only_steps: bool,
    },
    Nothing,
}

pub struct Shape {
    source: Source,
    pub has_phases: bool,
    /// The explicit phases that have numbered items.
    numbered: HashSet<usize>,
    /// The explicit phases that have tasks as headings.
    headed: HashSet<usize>,
    /// The numbers of the explicit phases, which no other phase may get.
    pub taken: HashSet<u32>,
    /// The ids that items have, which no other task may get.
    pub named: HashSet<String>,
}

impl Shape {
    pub fn of(blocks: &[SourceLine]) -> Shape {
        let headings = || {
            blocks.iter().filter_map(|block| match &block.kind {
                Kind::Heading { level, text } => Some((*level, text.as_str())),
                _ => None,
            })
        };
        let has_phases = headings().any(|(_, text)| explicit_phase(text).is_some());
        let any = |test: &dyn Fn(&SourceLine) -> bool| blocks.iter().any(test);
        // If there are explicit phases, only what is in one of them counts, because chapters are numbered too.
        let counts = |block: &SourceLine| !has_phases || block.phase > 0;
        let numbered_at = |level: usize| {
            let is_one = |block: &&SourceLine| matches!(&block.kind, Kind::Heading { level: at, text } if *at == level && item::is_numbered(text));
            blocks.iter().filter(|block| counts(block)).filter(is_one).count()
        };
        let most_numbered = (2..=4).max_by_key(|level| (numbered_at(*level), 10 - level)).unwrap_or(3);
        let numbered = |block: &SourceLine| matches!(block.kind, Kind::Numbered { .. }) && block.indent < 2;
        let bullet = |block: &SourceLine| matches!(block.kind, Kind::Bullet { .. }) && block.indent < 2;
        let is_task = |block: &SourceLine| match &block.kind {
            Kind::Heading { level, text } => *level > 1 && item::is_task_heading(text),
            _ => false,
        };
        let source = if any(&|block| matches!(block.kind, Kind::Check { .. })) {
            Source::Checks
        } else if any(&|block| is_task(block) && counts(block)) {
            Source::TaskHeadings
        } else if has_phases && any(&|block| block.phase > 0 && (numbered(block) || bullet(block))) {
            Source::InPhases
        } else if numbered_at(most_numbered) >= 2 {
            Source::NumberedHeadings { level: most_numbered }
        } else if any(&|block| numbered(block)) {
            Source::Numbered { only_steps: any(&|block| numbered(block) && block.in_steps) }
        } else if any(&|block| bullet(block)) {
            Source::Bullets { only_steps: any(&|block| bullet(block) && block.in_steps) }
        } else {
            Source::Nothing
        };
        let numbered = blocks.iter().filter(|block| numbered(block)).map(|block| block.phase).collect();
        let headed = blocks.iter().filter(|block| is_task(block)).map(|block| block.phase).collect();
        let taken = headings().filter_map(|(_, text)| explicit_phase(text)?.0).collect();
        let named = blocks.iter().filter_map(|block| match &block.kind {
            Kind::Check { mark, text } => item::parse(text, Some(mark)).id,
            Kind::Heading { text, .. }
                if matches!(source, Source::Checks | Source::TaskHeadings) && counts(block) =>
            {
                item::parse_heading(text).id
            }
            _ => None,
        });
        Shape { source, has_phases, numbered, headed, taken, named: named.collect() }
    }

    pub fn role(&self, level: usize, text: &str) -> HeadingRole {
        if explicit_phase(text).is_some() {
            return HeadingRole::Phase;
        }
        let is_task = match self.source {
            // Boxes below a task heading are its parts, if a heading above can be the phase.
            Source::Checks => self.has_phases && item::is_task_heading(text),
            Source::TaskHeadings => item::is_task_heading(text),
            Source::NumberedHeadings { level: of } => level == of && item::is_numbered(text),
            Source::InPhases | Source::Numbered { .. } | Source::Bullets { .. } | Source::Nothing => false,
        };
        if is_task && level > 1 { HeadingRole::Task } else { HeadingRole::Section }
    }

    /// Returns whether an item without a box is a task here.
    pub fn takes(&self, block: &SourceLine) -> bool {
        let fits = |only_steps: bool| block.indent < 2 && (!only_steps || block.in_steps);
        let by_phase = match self.source {
            Source::InPhases => true,
            // In a phase without task headings, the items of its list are tasks.
            Source::TaskHeadings => !self.headed.contains(&block.phase),
            _ => false,
        };
        match (self.source, &block.kind) {
            (_, kind) if by_phase && block.phase > 0 && block.indent < 2 => match kind {
                Kind::Numbered { .. } => true,
                Kind::Bullet { text } => !self.numbered.contains(&block.phase) && item::field(text).is_none(),
                _ => false,
            },
            (Source::Numbered { only_steps }, Kind::Numbered { .. }) => fits(only_steps),
            (Source::Bullets { only_steps }, Kind::Bullet { .. }) => fits(only_steps),
            _ => false,
        }
    }

    pub fn doubt(&self, tasks: usize) -> Option<String> {
        let taken = match self.source {
            Source::Checks | Source::TaskHeadings => return None,
            Source::NumberedHeadings { .. } => "numbered headings",
            Source::InPhases => "the lists of its phases",
            Source::Numbered { .. } => "numbered lists",
            Source::Bullets { .. } => "lists without boxes",
            Source::Nothing if self.has_phases => return None,
            Source::Nothing => return Some("there is no list in it that could be tasks".to_owned()),
        };
        Some(format!("it has no boxes (`- [ ]`): {tasks} tasks were taken from {taken}"))
    }
}

/// Reads `Phase 2: Name` as phase 2 with that name. Returns `None` for any other heading.
pub fn explicit_phase(text: &str) -> Option<(Option<u32>, String)> {
    let text = text.trim().trim_start_matches(['*', '_', ' ']);
    // An icon before the word is common.
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let lower = text.to_lowercase();
    const PHASE_WORDS: [&str; 12] = [
        "phase",
        "wave",
        "round",
        "milestone",
        "stage",
        "sprint",
        "iteration",
        "part",
        "fase",
        "etapa",
        "阶段",
        "этап",
    ];
    let word = PHASE_WORDS.into_iter().find(|word| lower.starts_with(word))?;
    let after = text.get(word.len()..)?;
    let rest = after.trim_start_matches([' ', '#', '-']);
    // `Phases of the work` and `Partial results` are not phases.
    if after.starts_with(char::is_alphabetic) {
        return None;
    }
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let behind = &rest[digits.len()..];
    let number: u32 = digits.parse().ok()?;
    match behind.chars().next() {
        // `Phase 2.5` and `Phase 2b` are phases, with a number that we assign.
        Some(c)
            if c.is_alphanumeric() || c == '.' && behind[1..].starts_with(|c: char| c.is_ascii_digit()) =>
        {
            Some((None, text.to_owned()))
        }
        _ => {
            let name = behind.trim_start_matches(['*', '_']).trim_start();
            let name = name.trim_start_matches([':', '—', '–', '-', '.', '|', ')']).trim_start();
            Some((Some(number), name.trim_end_matches(['*', '_']).to_owned()))
        }
    }
}

/// Words in a heading above a list of steps.
const STEPS_WORDS: [&str; 17] = [
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
    "步骤",
    "任务",
    "计划",
];

pub fn blocks(text: &str) -> Vec<SourceLine> {
    let mut blocks = Vec::new();
    let mut fence: Option<&str> = None;
    let mut in_comment = false;
    let mut in_steps = false;
    // The number of explicit phases so far, and the heading level of the current one.
    let (mut phases, mut within) = (0, None);
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
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
        if trimmed.starts_with("<!--") && !trimmed.starts_with(super::EXACT_COMMENT) {
            in_comment = !trimmed.contains("-->");
            continue;
        }
        let (indent, kind) = kind_of(line, trimmed);
        let kind = match kind {
            Kind::Text { text } if within.is_some() => bold_heading(text),
            kind => kind,
        };
        if let Kind::Heading { level, text } = &kind {
            let lower = text.to_lowercase();
            in_steps = STEPS_WORDS.iter().any(|word| lower.contains(word));
            if explicit_phase(text).is_some() {
                phases += 1;
                within = Some(*level);
            } else if within.is_some_and(|of| *level <= of) {
                within = None;
            }
        }
        let phase = if within.is_some() { phases } else { 0 };
        blocks.push(SourceLine { line: number + 1, indent, kind, in_steps, phase });
    }
    blocks
}

fn kind_of(line: &str, trimmed: &str) -> (usize, Kind) {
    let indent =
        line.chars().take_while(|c| matches!(c, ' ' | '\t')).map(|c| if c == '\t' { 4 } else { 1 }).sum();
    let text = || trimmed.to_owned();
    if trimmed.is_empty() || trimmed.len() >= 3 && trimmed.bytes().all(|b| b == b'-') {
        return (indent, Kind::Blank);
    }
    if let Some(json) = trimmed
        .strip_prefix(super::EXACT_COMMENT)
        .and_then(|rest| rest.strip_suffix(super::EXACT_COMMENT_END))
    {
        return (indent, Kind::Exact(json.to_owned()));
    }
    let level = trimmed.bytes().take_while(|b| *b == b'#').count();
    if (1..=6).contains(&level) && indent < 4 && trimmed[level..].starts_with([' ', '\t']) || trimmed == "#" {
        return (indent, Kind::Heading { level, text: trimmed[level..].trim().to_owned() });
    }
    if let Some(rest) = ["- ", "* ", "+ "].into_iter().find_map(|mark| trimmed.strip_prefix(mark)) {
        return (
            indent,
            checked(rest.trim_start()).unwrap_or_else(|| Kind::Bullet { text: rest.trim().to_owned() }),
        );
    }
    if let Some((number, rest)) = numbered(trimmed) {
        return (indent, checked(rest).unwrap_or_else(|| Kind::Numbered { number, text: rest.to_owned() }));
    }
    (indent, Kind::Text { text: text() })
}

/// Reads `**5.1 — Name**` at the beginning of a line in a phase as a heading, because some people write tasks like that.
fn bold_heading(text: String) -> Kind {
    let is_task = text.strip_prefix("**").is_some_and(item::is_task_heading) && text[2..].contains("**");
    match is_task {
        true => Kind::Heading { level: BELOW_ALL_LEVELS, text: text.replacen("**", "", 2) },
        false => Kind::Text { text },
    }
}

/// A heading level deeper than any in markdown, so that a bold heading ends no other section.
const BELOW_ALL_LEVELS: usize = 7;

/// Reads `3. text` and `3) text`.
fn numbered(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let number = text[..end].parse().ok()?;
    let rest = text[end..].strip_prefix(['.', ')'])?;
    rest.starts_with([' ', '\t']).then(|| (number, rest.trim()))
}

/// Reads `[x] text` and `[BLOCKED] text`, but not a link: `[text](to)`.
fn checked(text: &str) -> Option<Kind> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    if rest.starts_with(['(', '[', ':']) {
        return None;
    }
    let mut chars = inside.chars();
    let mark = match (chars.next(), chars.next()) {
        (None | Some(' ' | '\u{a0}' | '☐'), None) => Mark::Is(TaskStatus::Pending),
        (Some('x' | 'X' | '✓' | '✔' | '✅' | '☑'), _) if inside.chars().count() <= 2 => {
            Mark::Is(TaskStatus::Completed)
        }
        (Some('!' | '⛔'), _) if inside.chars().count() <= 2 => Mark::Is(TaskStatus::Blocked),
        (Some('~' | '>' | '/' | '.' | '🔄'), None) => Mark::Is(TaskStatus::InProgress),
        (Some(sign @ ('-' | '?' | 'o')), None) => Mark::Likely(TaskStatus::InProgress, sign),
        _ if inside.trim().is_empty() => Mark::Is(TaskStatus::Pending),
        _ => Mark::Is(TaskStatus::parse(inside).filter(|_| inside.len() > 2)?),
    };
    Some(Kind::Check { mark, text: rest.trim().to_owned() })
}
