//! `thru brief --explain`: shows why each candidate is or is not in the brief.

use model::brief::ExplainedCandidate;
use model::render::one_line;
use model::score::ScorePart;
use ops::session::brief::BriefReport;
use ops::{Error, Result};

use crate::output::{self, DIM, GOOD};

/// The width of the table, in characters.
const TABLE_WIDTH: usize = 100;

/// The indentation of a candidate's details.
const INDENT: usize = 4;

/// Finds a candidate by its id, or by the beginning of its id.
pub fn find_candidate(rows: &[ExplainedCandidate], id: &str) -> Result<ExplainedCandidate> {
    let exact = rows.iter().find(|row| row.id == id);
    let begins: Vec<&ExplainedCandidate> = rows.iter().filter(|row| row.id.starts_with(id)).collect();
    match (exact, begins.as_slice()) {
        (Some(row), _) => Ok(row.clone()),
        (None, [row]) => Ok((*row).clone()),
        (None, []) => Err(Error::Absent {
            what: format!("no candidate in this brief has the id {}", one_line(id, 80)),
            hint: "`thru brief --explain` lists them with their ids".into(),
        }),
        (None, several) => Err(Error::Usage {
            what: format!("{} candidates have ids that begin with {}", several.len(), one_line(id, 80)),
            hint: format!(
                "one of {}",
                several.iter().take(5).map(|row| one_line(&row.id, 60)).collect::<Vec<_>>().join(", ")
            ),
        }),
    }
}

/// Prints each candidate and its details, in the order in which the candidates were considered.
pub fn print_explained_candidates(report: &BriefReport) {
    let rows = &report.explained.rows;
    let by = if report.scoring { "score" } else { "rank" };
    let classes = rows.iter().map(|row| row.class.len()).max().unwrap_or(0).max("class".len());
    let text = TABLE_WIDTH.saturating_sub(6 + 8 + 5 + classes + 4);
    output::print_line(format_args!("{DIM}{by:>6}  tokens  in   {:<classes$}  what{DIM:#}", "class"));
    for row in rows {
        let mark = if row.taken { format!("{GOOD}yes{GOOD:#}") } else { "no ".to_owned() };
        let ExplainedCandidate { class, tokens, .. } = row;
        let place = row.score.map_or(row.rank.to_string(), |score| format!("{score:.3}"));
        let text = one_line(&row.text, text);
        output::print_line(format_args!("{place:>6}  {tokens:>6}  {mark}  {class:<classes$}  {text}"));
        for line in wrap_parts(&candidate_details(row), TABLE_WIDTH - INDENT) {
            output::print_line(format_args!("{:INDENT$}{DIM}{line}{DIM:#}", ""));
        }
    }
    let most = report.max_chars.map_or(String::new(), |most| format!(" of {most}"));
    let taken = rows.iter().filter(|row| row.taken).count();
    let order = if report.scoring {
        "ranked by score"
    } else {
        "in the fixed order; use `--scoring on` to rank them"
    };
    output::print_message(format_args!(
        "{DIM}{taken} of {} candidates, {order}; {}{most} characters, about {} tokens{DIM:#}",
        rows.len(),
        report.chars,
        report.explained.tokens
    ));
}

/// Prints one candidate, with its whole text.
pub fn print_candidate(row: &ExplainedCandidate, of: usize) {
    let mut pairs = vec![
        ("id", row.id.clone()),
        ("class", row.class.to_owned()),
        ("in", format!("{}: {}", if row.taken { "yes" } else { "no" }, row.why)),
        ("size", format!("{} characters of {}, about {} tokens", row.chars, row.kind.name(), row.tokens)),
        ("position", format!("{} of {of}", row.position)),
    ];
    if row.score.is_none() {
        pairs.push(("rank", row.rank.to_string()));
    }
    if let Some(score) = row.score {
        pairs.push(("score", format!("{score:.9}")));
        pairs.extend(row.signals.iter().map(|part| (part.signal, format_product(part, row.depth))));
        pairs.push(("priority", format!("{} (decides between equal scores)", row.priority)));
    }
    pairs.extend(row.age_hours.map(|age| ("age", format!("{age:.1} hours"))));
    output::print_pairs(&pairs);
    output::print_line(&row.text);
}

/// Returns the details of a candidate: its id, its signals (such as `files 0.917 × 1 = 0.917`) and the reason for its
/// verdict (such as `in full`).
fn candidate_details(row: &ExplainedCandidate) -> Vec<String> {
    let signals =
        row.signals.iter().map(|part| format!("{} {}", part.signal, format_product(part, row.depth)));
    std::iter::once(one_line(&row.id, TABLE_WIDTH - INDENT)).chain(signals).chain([row.why.clone()]).collect()
}

/// Formats a product like `1.000 × 2.5 = 2.500`, or like `1.000 × 1 / (1 + 2) = 0.333` if the candidate has a depth.
fn format_product(part: &ScorePart, depth: Option<u32>) -> String {
    let depth = depth.map_or(String::new(), |depth| format!(" / (1 + {depth})"));
    format!("{:.3} × {}{depth} = {:.3}", part.value, part.weight, part.contribution)
}

/// Joins the parts with ` · ` into lines of at most `most` characters.
fn wrap_parts(parts: &[String], most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + part.chars().count() + 3 <= most => {
                line.push_str(" · ");
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    lines
}
