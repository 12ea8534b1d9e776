//! The measurements as tables.

use serde_json::{Value, json};

use super::measure::{Answers, Measured, QUESTIONS, Share};
use crate::table::{Align, plain};

/// Fewer items than this prove nothing.
const VERDICT: usize = 30;

/// What is asked for at each size, by question; from the project's own quality page.
const TARGETS: [(usize, [Option<u32>; 9]); 4] = [
    (1_200, [Some(95), None, Some(100), None, Some(100), None, None, None, None]),
    (2_000, [Some(99), Some(60), None, Some(50), None, Some(90), Some(95), None, None]),
    (4_000, [Some(99), Some(90), None, Some(90), None, Some(97), Some(99), Some(90), None]),
    (9_500, [Some(99), Some(95), None, Some(99), None, Some(99), Some(99), Some(99), None]),
];

/// Sums over sessions.
#[derive(Clone, Debug, Default)]
struct Total {
    chars: usize,
    texts: usize,
    shares: [Share; 9],
    precision: Share,
    recent: Share,
    touched: Share,
}

impl Total {
    fn of<'a>(all: impl Iterator<Item = &'a Answers>) -> Total {
        let mut total = Total::default();
        for answers in all {
            total.chars += answers.chars;
            total.texts += 1;
            total.shares.iter_mut().zip(&answers.shares).for_each(|(sum, share)| sum.add(*share));
            total.precision.add(answers.precision);
            total.recent.add(answers.recent);
            total.touched.add(answers.touched);
        }
        total
    }

    /// Of precision and recall; `hits` of the files that were named, or would have been.
    fn f1(&self, hits: Share) -> f64 {
        let (named, needed) = (hits.of as f64, self.shares[0].of as f64);
        if named + needed == 0.0 { 0.0 } else { 2.0 * hits.found as f64 / (named + needed) }
    }
}

impl Share {
    fn add(&mut self, other: Share) {
        self.found += other.found;
        self.of += other.of;
    }

    fn percent(self) -> f64 {
        if self.of == 0 { 100.0 } else { 100.0 * self.found as f64 / self.of as f64 }
    }

    /// Wilson's 95 % interval, in percent.
    fn interval(self) -> (f64, f64) {
        let (n, z) = (self.of as f64, 1.96_f64);
        if self.of == 0 {
            return (0.0, 100.0);
        }
        let p = self.found as f64 / n;
        let (middle, scale) = (p + z * z / (2.0 * n), 1.0 + z * z / n);
        let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        (100.0 * ((middle - half) / scale).max(0.0), 100.0 * ((middle + half) / scale).min(1.0))
    }
}

pub fn print(measured: &[Measured]) {
    let real = measured.iter().filter(|one| one.real).count();
    println!("{} cuts, {real} of them compactions\n", measured.len());
    print_sessions(measured);
    println!();
    let columns: Vec<(String, Total)> = columns(measured);
    let mut rows =
        vec![["".to_owned()].into_iter().chain(columns.iter().map(|(name, _)| name.clone())).collect()];
    for (question, name) in QUESTIONS.iter().enumerate() {
        let cells = columns.iter().map(|(size, total)| cell(size, question, total.shares[question]));
        rows.push([(*name).to_owned()].into_iter().chain(cells).collect::<Vec<_>>());
    }
    let line = |name: &str, value: &dyn Fn(&Total) -> String| -> Vec<String> {
        [name.to_owned()].into_iter().chain(columns.iter().map(|(_, total)| value(total))).collect()
    };
    rows.push(line("characters, mean", &|total| (total.chars / total.texts.max(1)).to_string()));
    rows.push(line("files named, mean", &|total| {
        format!("{:.1}", total.precision.of as f64 / total.texts.max(1) as f64)
    }));
    rows.push(line("precision", &|total| format!("{:.1} %", total.precision.percent())));
    rows.push(line("F1", &|total| format!("{:.3}", total.f1(total.precision))));
    rows.push(line("F1, as many most recent", &|total| format!("{:.3}", total.f1(total.recent))));
    rows.push(line("F1, as many most touched", &|total| format!("{:.3}", total.f1(total.touched))));
    let mut align = vec![Align::Right; columns.len() + 1];
    align[0] = Align::Left;
    print!("{}", plain(&align, &rows));
    println!("\n* misses its target    ? fewer than {VERDICT} items: no verdict    [95 % interval]");
}

fn columns(measured: &[Measured]) -> Vec<(String, Total)> {
    let mut columns: Vec<(String, Total)> = super::SIZES
        .iter()
        .enumerate()
        .map(|(i, size)| (size.to_string(), Total::of(measured.iter().map(|one| &one.by_size[i].1))))
        .collect();
    let summaries = Total::of(measured.iter().filter_map(|one| one.summary.as_ref()));
    if summaries.texts > 0 {
        columns.push(("summary".to_owned(), summaries));
    }
    columns
}

fn target(size: &str, question: usize) -> Option<u32> {
    TARGETS.iter().find(|(known, _)| known.to_string() == size).and_then(|(_, targets)| targets[question])
}

fn verdict(size: &str, question: usize, share: Share) -> &'static str {
    match target(size, question) {
        _ if share.of < VERDICT => "?",
        Some(target) if share.percent() < f64::from(target) => "*",
        _ => "",
    }
}

fn cell(size: &str, question: usize, share: Share) -> String {
    let (low, high) = share.interval();
    let mark = verdict(size, question, share);
    format!("{mark} {:.1} % ({}/{}) [{low:.0}–{high:.0}]", share.percent(), share.found, share.of)
}

fn print_sessions(measured: &[Measured]) {
    let mut rows = vec![vec![
        "session".to_owned(),
        "line".into(),
        "files needed".into(),
        "summary".into(),
        "commands".into(),
        "prompts".into(),
        "errors".into(),
        "edited".into(),
        "read".into(),
    ]];
    let of = |one: &Measured, question: usize| {
        let found: Vec<String> =
            one.by_size.iter().map(|(_, answers)| answers.shares[question].found.to_string()).collect();
        format!("{} of {}", found.join("/"), one.by_size[0].1.shares[question].of)
    };
    for one in measured {
        let summary =
            one.summary.as_ref().map_or(String::new(), |answers| answers.shares[0].found.to_string());
        let mut row = vec![one.session.chars().take(8).collect(), one.line.to_string(), of(one, 0), summary];
        row.extend([1, 3, 5, 6, 7].map(|question| of(one, question)));
        rows.push(row);
    }
    let mut align = vec![Align::Right; rows[0].len()];
    align[0] = Align::Left;
    println!("found at {} characters:", super::SIZES.map(|size| size.to_string()).join("/"));
    print!("{}", plain(&align, &rows));
}

pub fn print_misses(one: &Measured) {
    println!("== {} line {}", one.session, one.line);
    for (size, answers) in &one.by_size {
        for (question, item) in answers.missed.iter().filter(|(question, _)| *question < 8) {
            println!("{size:>5} {:<24} {item}", QUESTIONS[*question]);
        }
    }
}

pub fn json(measured: &[Measured]) -> Value {
    let answers = |answers: &Answers| {
        json!({
            "chars": answers.chars,
            "found": shares(&answers.shares),
            "named": answers.precision.of,
            "missed": answers.missed.iter().map(|(q, item)| json!([QUESTIONS[*q], item])).collect::<Vec<_>>(),
        })
    };
    let cuts = measured.iter().map(|one| {
        let sizes = one.by_size.iter().map(|(size, at)| (size.to_string(), answers(at)));
        json!({
            "session": one.session,
            "line": one.line,
            "compaction": one.real,
            "brief": sizes.collect::<serde_json::Map<_, _>>(),
            "summary": one.summary.as_ref().map(answers),
        })
    });
    let total = columns(measured).into_iter().map(|(name, total)| {
        let questions = QUESTIONS.iter().enumerate().map(|(question, words)| {
            let share = total.shares[question];
            let (low, high) = share.interval();
            let meets = target(&name, question).filter(|_| share.of >= VERDICT);
            let value = json!({
                "found": share.found, "of": share.of, "percent": share.percent(), "interval": [low, high],
                "target": target(&name, question),
                "verdict": match (share.of < VERDICT, meets) {
                    (true, _) => "no verdict",
                    (_, None) => "no target",
                    (_, Some(target)) if share.percent() < f64::from(target) => "missed",
                    _ => "met",
                },
            });
            ((*words).to_owned(), value)
        });
        let value = json!({
            "mean_chars": total.chars / total.texts.max(1),
            "questions": questions.collect::<serde_json::Map<_, _>>(),
            "precision": total.precision.percent(),
            "f1": total.f1(total.precision),
            "f1_most_recent": total.f1(total.recent),
            "f1_most_touched": total.f1(total.touched),
        });
        (name, value)
    });
    json!({ "total": total.collect::<serde_json::Map<_, _>>(), "cuts": cuts.collect::<Vec<_>>() })
}

fn shares(shares: &[Share; 9]) -> Value {
    let pairs = QUESTIONS
        .iter()
        .zip(shares)
        .map(|(name, share)| ((*name).to_owned(), json!([share.found, share.of])));
    Value::Object(pairs.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_and_verdicts() {
        let (low, high) = Share { found: 50, of: 100 }.interval();
        assert!((40.0..41.0).contains(&low) && (59.0..60.0).contains(&high), "{low} {high}");
        assert_eq!(verdict("2000", 1, Share { found: 1, of: 29 }), "?");
        assert_eq!(verdict("2000", 1, Share { found: 17, of: 30 }), "*");
        assert_eq!(verdict("2000", 1, Share { found: 18, of: 30 }), "");
        assert_eq!(verdict("summary", 1, Share { found: 0, of: 30 }), "");
    }
}
