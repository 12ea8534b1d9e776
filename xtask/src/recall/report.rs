//! Prints the measurements as tables.

use serde_json::{Map, Value, json};

use super::BRIEF_SIZES;
use super::cut::{CorpusHalf, SessionCutKind};
use super::measure::{
    FILES_AGAIN_QUESTION, FoundShare, MeasuredCut, QUESTION_NAMES, RecallAnswers, question_index,
};
use super::targets::{self, MIN_ITEMS_FOR_VERDICT, TargetVerdict};
use crate::table::{ColumnAlignment, plain_table};

#[derive(Clone, Debug, Default)]
struct AnswerTotal {
    chars: usize,
    texts: usize,
    shares: [FoundShare; 13],
    precision: FoundShare,
    recent_files_share: FoundShare,
    frequent_files_share: FoundShare,
    path_list_share: FoundShare,
}

impl AnswerTotal {
    fn sum<'a>(all: impl Iterator<Item = &'a RecallAnswers>) -> AnswerTotal {
        let mut total = AnswerTotal::default();
        for answers in all {
            total.chars += answers.chars;
            total.texts += 1;
            total.shares.iter_mut().zip(&answers.shares).for_each(|(sum, share)| sum.add_share(*share));
            total.precision.add_share(answers.precision);
            total.recent_files_share.add_share(answers.recent_files_share);
            total.frequent_files_share.add_share(answers.frequent_files_share);
            total.path_list_share.add_share(answers.path_list_share);
        }
        total
    }

    /// Returns the F1 score of a list of files. `hits` counts the needed files among them.
    fn f1_score(&self, hits: FoundShare) -> f64 {
        let (named, needed) =
            (hits.total as f64, self.shares[question_index(FILES_AGAIN_QUESTION)].total as f64);
        if named + needed == 0.0 { 0.0 } else { 2.0 * hits.found as f64 / (named + needed) }
    }
}

struct CutSelection<'a> {
    name: &'static str,
    cuts: Vec<&'a MeasuredCut>,
}

/// Returns the groups of cuts that are reported: the compactions and, if there are artificial cuts, also the artificial
/// cuts alone and all cuts together.
fn selections(measured: &[MeasuredCut]) -> Vec<CutSelection<'_>> {
    let of =
        |keep: fn(SessionCutKind) -> bool| measured.iter().filter(|one| keep(one.kind)).collect::<Vec<_>>();
    let real = CutSelection { name: "compactions", cuts: of(|sort| sort != SessionCutKind::Artificial) };
    let made_up = CutSelection { name: "made-up cuts", cuts: of(|sort| sort == SessionCutKind::Artificial) };
    let all = CutSelection { name: "compactions and made-up cuts", cuts: measured.iter().collect() };
    let is_mixed = !real.cuts.is_empty() && !made_up.cuts.is_empty();
    let mut found = vec![real, made_up];
    found.retain(|selection| !selection.cuts.is_empty());
    found.extend(is_mixed.then_some(all));
    found
}

/// A measured figure and its target, for each half of the sessions.
struct TargetCell {
    question: &'static str,
    place: String,
    target: u32,
    tune: FoundShare,
    report: FoundShare,
}

impl TargetCell {
    fn both_halves(&self) -> FoundShare {
        FoundShare { found: self.tune.found + self.report.found, total: self.tune.total + self.report.total }
    }
}

impl CutSelection<'_> {
    fn measured_in_half(&self, half: CorpusHalf) -> impl Iterator<Item = &MeasuredCut> {
        self.cuts.iter().copied().filter(move |one| one.half == half)
    }

    fn target_cells(&self) -> Vec<TargetCell> {
        let mut cells = Vec::new();
        for (at, name) in QUESTION_NAMES.iter().enumerate() {
            for (size, chars) in BRIEF_SIZES.iter().enumerate() {
                let Some(target) = targets::brief_target(name, size) else { continue };
                let share = |half| {
                    AnswerTotal::sum(self.measured_in_half(half).map(|one| &one.brief_alone[size])).shares[at]
                };
                let (tune, report) = (share(CorpusHalf::TuningHalf), share(CorpusHalf::ReportingHalf));
                cells.push(TargetCell { question: name, place: chars.to_string(), target, tune, report });
            }
            let Some(target) = targets::with_summary_target(name) else { continue };
            let either = |one: &'_ MeasuredCut| {
                one.with_summary.as_ref().map(|beside| beside.summary_or_brief.shares[at])
            };
            let share = |half| {
                self.measured_in_half(half).filter_map(either).fold(
                    FoundShare::default(),
                    |mut sum, share| {
                        sum.add_share(share);
                        sum
                    },
                )
            };
            let (tune, report) = (share(CorpusHalf::TuningHalf), share(CorpusHalf::ReportingHalf));
            if tune.total + report.total > 0 {
                let place = "with the summary".to_owned();
                cells.push(TargetCell { question: name, place, target, tune, report });
            }
        }
        cells
    }

    /// Returns the name of each text, with the sum of its results for all cuts.
    fn text_columns(&self) -> Vec<(String, AnswerTotal)> {
        let mut columns: Vec<(String, AnswerTotal)> = BRIEF_SIZES
            .iter()
            .enumerate()
            .map(|(at, size)| {
                (size.to_string(), AnswerTotal::sum(self.cuts.iter().map(|one| &one.brief_alone[at])))
            })
            .collect();
        let beside = || self.cuts.iter().filter_map(|one| one.with_summary.as_ref());
        let others = [
            ("pickup", AnswerTotal::sum(self.cuts.iter().filter_map(|one| one.packet.as_ref()))),
            ("summary", AnswerTotal::sum(beside().map(|beside| &beside.summary))),
            ("beside it", AnswerTotal::sum(beside().map(|beside| &beside.brief))),
            ("both", AnswerTotal::sum(beside().map(|beside| &beside.summary_or_brief))),
        ];
        let others = others.into_iter().filter(|(_, total)| total.texts > 0);
        columns.extend(others.map(|(name, total)| (name.to_owned(), total)));
        columns
    }

    /// Returns how many lines of the briefs contain information that the summary does not contain.
    fn share_of_new_lines(&self) -> FoundShare {
        let mut sum = FoundShare::default();
        self.cuts
            .iter()
            .filter_map(|one| one.with_summary.as_ref())
            .for_each(|beside| sum.add_share(beside.new_lines));
        sum
    }
}

pub fn print_report(measured: &[MeasuredCut]) {
    for selection in selections(measured) {
        let sessions: std::collections::BTreeSet<&str> =
            selection.cuts.iter().map(|one| one.session.as_str()).collect();
        println!("## {}: {} of {} sessions\n", selection.name, selection.cuts.len(), sessions.len());
        print_targets(&selection);
        println!();
        print_recall_columns(&selection);
        println!();
    }
    println!("? fewer than {MIN_ITEMS_FOR_VERDICT} items    [95 % interval]");
}

fn print_targets(selection: &CutSelection) {
    let head = ["", "characters", "target", "tuned on", "reported", "verdict"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for cell in selection.target_cells() {
        rows.push(vec![
            cell.question.to_owned(),
            cell.place,
            format!("{} %", cell.target),
            format_share(cell.tune),
            format_share(cell.report),
            TargetVerdict::compare_with_target(cell.target, cell.tune, cell.report).name().to_owned(),
        ]);
    }
    let align = [
        ColumnAlignment::Left,
        ColumnAlignment::Right,
        ColumnAlignment::Right,
        ColumnAlignment::Right,
        ColumnAlignment::Right,
        ColumnAlignment::Left,
    ];
    print!("{}", plain_table(&align, &rows));
}

/// Returns, for every target, the share of items that were found in one half of the sessions.
pub fn shares_per_target(measured: &[MeasuredCut], half: CorpusHalf) -> Vec<FoundShare> {
    let all = CutSelection { name: "all", cuts: measured.iter().collect() };
    let of_half = |cell: TargetCell| if half == CorpusHalf::TuningHalf { cell.tune } else { cell.report };
    all.target_cells().into_iter().map(of_half).collect()
}

/// Returns the mean of the shares that have enough items, in percent.
pub fn mean_percent(shares: &[FoundShare]) -> f64 {
    let large: Vec<f64> = shares
        .iter()
        .filter(|share| share.total >= MIN_ITEMS_FOR_VERDICT)
        .map(|share| share.percent())
        .collect();
    large.iter().sum::<f64>() / large.len().max(1) as f64
}

/// Prints the targets with both rankings side by side. Returns whether the ranking by score is never worse than the
/// fixed order.
pub fn print_comparison(fixed: &[MeasuredCut], scored: &[MeasuredCut]) -> bool {
    let mut is_below = false;
    for (fixed, scored) in selections(fixed).iter().zip(&selections(scored)) {
        println!("## {}: fixed order and ranking by score\n", fixed.name);
        let head = ["", "characters", "target", "fixed: tune", "report", "scored: tune", "report", ""];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for (a, b) in fixed.target_cells().into_iter().zip(scored.target_cells()) {
            let difference = comparison_word(a.both_halves(), b.both_halves());
            is_below |= difference == "below";
            let shares = [a.tune, a.report, b.tune, b.report].map(format_share_short);
            let head = [a.question.to_owned(), a.place, format!("{} %", a.target)];
            rows.push(head.into_iter().chain(shares).chain([difference.to_owned()]).collect());
        }
        let mut align = [ColumnAlignment::Right; 8];
        (align[0], align[7]) = (ColumnAlignment::Left, ColumnAlignment::Left);
        println!("{}", plain_table(&align, &rows));
    }
    println!("better, below: by more than the 95 % interval of the fixed order");
    !is_below
}

/// Says whether the scoring found more of the items than the fixed order did. A difference within the confidence
/// interval of the fixed order is noise.
fn comparison_word(fixed: FoundShare, scored: FoundShare) -> &'static str {
    let (low, high) = fixed.wilson_interval();
    match scored.percent() {
        _ if scored == fixed => "same",
        share if share > high => "better",
        share if share < low => "below",
        share if share > fixed.percent() => "more, within noise",
        _ => "less, within noise",
    }
}

fn format_share_short(share: FoundShare) -> String {
    format!("{:.1} % ({}/{})", share.percent(), share.found, share.total)
}

fn print_recall_columns(selection: &CutSelection) {
    let columns = selection.text_columns();
    let row = |name: &str, value: &dyn Fn(&AnswerTotal) -> String| -> Vec<String> {
        [name.to_owned()].into_iter().chain(columns.iter().map(|(_, total)| value(total))).collect()
    };
    let mut rows =
        vec![["".to_owned()].into_iter().chain(columns.iter().map(|(name, _)| name.clone())).collect()];
    for (question, name) in QUESTION_NAMES.iter().enumerate() {
        rows.push(row(name, &|total| format_share(total.shares[question])));
    }
    rows.push(row("bare list of recent files", &|total| format_share(total.path_list_share)));
    rows.push(row("characters, mean", &|total| (total.chars / total.texts.max(1)).to_string()));
    rows.push(row("files named, mean", &|total| {
        format!("{:.1}", total.precision.total as f64 / total.texts.max(1) as f64)
    }));
    rows.push(row("precision of files", &|total| format!("{:.1} %", total.precision.percent())));
    rows.push(row("F1", &|total| format!("{:.3}", total.f1_score(total.precision))));
    rows.push(row("F1, as many most recent", &|total| {
        format!("{:.3}", total.f1_score(total.recent_files_share))
    }));
    rows.push(row("F1, as many most touched", &|total| {
        format!("{:.3}", total.f1_score(total.frequent_files_share))
    }));
    let mut align = vec![ColumnAlignment::Right; columns.len() + 1];
    align[0] = ColumnAlignment::Left;
    print!("{}", plain_table(&align, &rows));
    let lines = selection.share_of_new_lines();
    if lines.total > 0 {
        let briefs = selection.cuts.iter().filter(|one| one.with_summary.is_some()).count();
        println!(
            "beside the summary: {:.1} lines each, {} new, the rest repeats it",
            lines.total as f64 / briefs as f64,
            format_share(lines)
        );
    }
}

fn format_share(share: FoundShare) -> String {
    let (low, high) = share.wilson_interval();
    let mark = if share.total < MIN_ITEMS_FOR_VERDICT { "? " } else { "" };
    format!("{mark}{:.1} % ({}/{}) [{low:.0}–{high:.0}]", share.percent(), share.found, share.total)
}

pub fn print_misses(one: &MeasuredCut) {
    println!("== {} line {} ({:?}, {})", one.session, one.line, one.kind, one.half.name());
    let of = |name: String, answers: &RecallAnswers| {
        for (question, item) in &answers.missed {
            println!("{name:>8} {:<24} {item}", QUESTION_NAMES[*question]);
        }
    };
    for (size, answers) in BRIEF_SIZES.iter().zip(&one.brief_alone) {
        of(size.to_string(), answers);
    }
    if let Some(beside) = &one.with_summary {
        of("both".to_owned(), &beside.summary_or_brief);
    }
    if let Some(packet) = &one.packet {
        of("pickup".to_owned(), packet);
    }
}

pub fn report_json(measured: &[MeasuredCut]) -> Value {
    let selections = selections(measured);
    let totals = selections.iter().map(|selection| {
        let targets: Vec<Value> = selection.target_cells().iter().map(cell_json).collect();
        let texts = selection.text_columns().into_iter().map(|(name, total)| (name, total_json(&total)));
        let texts: Map<String, Value> = texts.collect();
        let new = share_json(selection.share_of_new_lines());
        let value =
            json!({ "cuts": selection.cuts.len(), "targets": targets, "texts": texts, "new_lines": new });
        (selection.name.to_owned(), value)
    });
    json!({
        "totals": totals.collect::<Map<_, _>>(),
        "cuts": measured.iter().map(measured_cut_as_json).collect::<Vec<_>>(),
    })
}

fn cell_json(cell: &TargetCell) -> Value {
    json!({
        "question": cell.question,
        "at": cell.place,
        "target": cell.target,
        "tune": share_json(cell.tune),
        "report": share_json(cell.report),
        "verdict": TargetVerdict::compare_with_target(cell.target, cell.tune, cell.report).name(),
    })
}

fn total_json(total: &AnswerTotal) -> Value {
    let shares =
        QUESTION_NAMES.iter().zip(total.shares).map(|(name, share)| ((*name).to_owned(), share_json(share)));
    json!({
        "mean_chars": total.chars / total.texts.max(1),
        "questions": shares.collect::<Map<_, _>>(),
        "bare_list": share_json(total.path_list_share),
        "precision": total.precision.percent(),
        "f1": total.f1_score(total.precision),
        "f1_most_recent": total.f1_score(total.recent_files_share),
        "f1_most_touched": total.f1_score(total.frequent_files_share),
    })
}

fn share_json(share: FoundShare) -> Value {
    let (low, high) = share.wilson_interval();
    json!({ "found": share.found, "of": share.total, "percent": share.percent(), "interval": [low, high] })
}

fn measured_cut_as_json(one: &MeasuredCut) -> Value {
    let answers = |answers: &RecallAnswers| {
        let shares = QUESTION_NAMES.iter().zip(answers.shares);
        let shares = shares.map(|(name, share)| ((*name).to_owned(), json!([share.found, share.total])));
        json!({
            "chars": answers.chars,
            "found": shares.collect::<Map<_, _>>(),
            "named": answers.precision.total,
            "missed": answers.missed.iter().map(|(q, item)| json!([QUESTION_NAMES[*q], item])).collect::<Vec<_>>(),
        })
    };
    let sizes = BRIEF_SIZES.iter().zip(&one.brief_alone).map(|(size, at)| (size.to_string(), answers(at)));
    json!({
        "session": one.session,
        "half": one.half.name(),
        "line": one.line,
        "compaction": one.kind != SessionCutKind::Artificial,
        "brief": sizes.collect::<Map<_, _>>(),
        "pickup": one.packet.as_ref().map(answers),
        "summary": one.with_summary.as_ref().map(|beside| answers(&beside.summary)),
        "beside": one.with_summary.as_ref().map(|beside| answers(&beside.brief)),
        "both": one.with_summary.as_ref().map(|beside| answers(&beside.summary_or_brief)),
    })
}
