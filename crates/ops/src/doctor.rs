//! `thru doctor`: looks at everything, changes nothing, names what it finds.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use model::finding::{Finding, Level};
use model::receipt::{Outcome, Receipt};
use model::text::count;
use model::time;
use serde::Serialize;
use store::{Dir, EntryKind, Found, Store};

use crate::{Error, World, settings};

/// Failures of hooks older than this are history.
const RECENT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// How many of one kind are named before they are only counted.
const NAMED: usize = 5;

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub root: Option<PathBuf>,
    /// In the order they were made.
    pub checks: Vec<Check>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Check {
    pub name: &'static str,
    /// What was seen, in one line.
    pub text: String,
    pub findings: Vec<Finding>,
}

impl Report {
    /// Notes are worth knowing; anything above wants somebody to act.
    pub fn is_clean(&self) -> bool {
        self.checks.iter().flat_map(|check| &check.findings).all(|finding| finding.level == Level::Note)
    }
}

pub fn run(world: &World) -> Report {
    let found = world.find();
    let mut report = Report { root: None, checks: vec![check_root(&found)] };
    let store = match &found {
        Ok(Found::Marked { root, store, marker }) => {
            report.root = Some(root.path.clone());
            let holds = world.trust().map(|trust| trust.holds(&marker.project_id, &root.path));
            let trusted = matches!(holds, Some(Ok(true)));
            report.checks.push(check_trust(holds));
            report.checks.push(check_settings(world, trusted.then_some(store)));
            store
        }
        _ => {
            report.checks.push(check_settings(world, None));
            return report;
        }
    };
    report.checks.push(check_files(store));
    report.checks.push(check_hooks(store, world.now));
    report
}

fn check_root(found: &crate::Result<Found>) -> Check {
    let mut findings = Vec::new();
    let text = match found {
        Ok(Found::Marked { root, marker, .. }) => {
            format!("{} ({})", root.path.display(), marker.project_id.as_str())
        }
        Ok(Found::Unmarked(root)) => {
            findings
                .push(Finding::new(Level::Warning, "there is no root here").hint("`thru init` makes one"));
            format!("none; it would be {}", root.path.display())
        }
        Err(error) => {
            findings.push(of_error(error));
            "cannot be used".to_owned()
        }
    };
    Check { name: "root", text, findings }
}

fn check_trust(holds: Option<store::Result<bool>>) -> Check {
    let (text, finding) = match holds {
        Some(Ok(true)) => ("trusted on this machine".to_owned(), None),
        Some(Ok(false)) => {
            let text = "hooks write and say nothing in a store that is not trusted";
            let finding = Finding::new(Level::Warning, text).hint("look at them, then run `thru trust`");
            ("not trusted".to_owned(), Some(finding))
        }
        Some(Err(error)) => ("cannot be read".to_owned(), Some(of_error(&error.into()))),
        None => {
            let finding = Finding::new(Level::Warning, "neither HOME nor XDG_STATE_HOME is set");
            ("unknown".to_owned(), Some(finding.hint("set HOME to your home folder")))
        }
    };
    Check { name: "trust", text, findings: finding.into_iter().collect() }
}

fn check_settings(world: &World, store: Option<&Store>) -> Check {
    let resolved = settings::resolve(world, store);
    let set = resolved.entries.iter().filter(|entry| entry.source != "default").count();
    let mut findings = resolved.findings;
    if world.is_on("THROUGHLINE_DISABLE") {
        findings.push(Finding::new(Level::Note, "THROUGHLINE_DISABLE is set: hooks are off in this shell"));
    }
    let text = if set == 0 {
        "all at their defaults".to_owned()
    } else {
        format!("{} changed", count(set, "setting"))
    };
    Check { name: "settings", text, findings }
}

/// Walks the store: damage set aside, torn lines, leftovers, links, what cannot be read.
fn check_files(store: &Store) -> Check {
    let mut walk = Walk::default();
    walk.folder(store.dir(), "");
    let text = format!("{} in {}", count(walk.files, "file"), count(walk.folders, "folder"));
    Check { name: "files", text, findings: walk.findings }
}

#[derive(Default)]
struct Walk {
    files: usize,
    folders: usize,
    findings: Vec<Finding>,
}

impl Walk {
    fn folder(&mut self, dir: &Dir, prefix: &str) {
        self.folders += 1;
        let entries = match dir.entries() {
            Ok(entries) => entries,
            Err(error) => return self.findings.push(of_error(&error.into())),
        };
        for entry in entries {
            let rel = if prefix.is_empty() { entry.name.clone() } else { format!("{prefix}/{}", entry.name) };
            match entry.kind {
                EntryKind::Folder => match dir.sub(&entry.name) {
                    Ok(sub) => self.folder(&sub, &rel),
                    Err(error) => self.findings.push(of_error(&error.into())),
                },
                EntryKind::File => self.file(dir, &entry.name, &rel),
                EntryKind::Other => {
                    let finding =
                        Finding::new(Level::Warning, "a link or a special file; thru never opens it");
                    self.findings.push(finding.at(rel, None).hint("put a plain file there, or remove it"));
                }
            }
        }
    }

    fn file(&mut self, dir: &Dir, name: &str, rel: &str) {
        self.files += 1;
        let note = |text: &str| Finding::new(Level::Note, text).at(rel, None);
        if name.starts_with('.') && name.ends_with(".tmp") {
            self.findings.push(note("left behind by an interrupted write; the record itself is whole"));
        } else if name.contains(".damaged-") {
            self.findings.push(note("a damaged record that was set aside; nothing reads it any more"));
        } else if name.ends_with(".jsonl") {
            self.log(dir, name, rel);
        }
    }

    fn log(&mut self, dir: &Dir, name: &str, rel: &str) {
        // Each part of a rotated log is an entry of its own here, so it is read by itself.
        let mut torn = Vec::new();
        let read = dir.each_line(name, |number, line| {
            let blank = line.iter().all(u8::is_ascii_whitespace);
            if !blank && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err() {
                torn.push(number);
            }
        });
        if let Err(error) = read {
            self.findings.push(of_error(&error.into()));
        }
        if let Some(first) = torn.first() {
            let text = format!(
                "{} torn by a crash; skipped by every reader, kept as found",
                count(torn.len(), "line")
            );
            self.findings.push(Finding::new(Level::Note, text).at(rel, Some(*first)));
        }
    }
}

/// What went wrong in hooks lately, each kind once.
fn check_hooks(store: &Store, now: Timestamp) -> Check {
    let (mut runs, mut failed, mut last) = (0, Vec::<Receipt>::new(), None);
    let read = store.receipts(|receipt| {
        runs += 1;
        last = Some(format!(
            "{} {}",
            receipt.event,
            receipt.at().map_or(String::new(), |at| time::ago(at, now))
        ));
        let recent = receipt.at().is_some_and(|at| now.duration_since(at) < RECENT);
        if receipt.outcome == Outcome::Failed && recent {
            failed.retain(|known| (&known.event, &known.error) != (&receipt.event, &receipt.error));
            failed.push(receipt);
        }
    });
    let mut findings: Vec<Finding> = failed.iter().rev().take(NAMED).map(of_receipt).collect();
    if failed.len() > NAMED {
        findings.push(Finding::new(Level::Note, format!("and {} more", failed.len() - NAMED)));
    }
    if let Err(error) = read {
        findings.push(of_error(&error.into()));
    }
    let text = last
        .map_or("no hook has run yet".to_owned(), |last| format!("{}, last: {last}", count(runs, "receipt")));
    Check { name: "hooks", text, findings }
}

fn of_receipt(receipt: &Receipt) -> Finding {
    let why = receipt.error.as_deref().unwrap_or("no reason given");
    Finding::new(
        Level::Warning,
        format!("{} of {} at {} failed: {why}", receipt.event, receipt.harness, receipt.ts),
    )
}

fn of_error(error: &Error) -> Finding {
    let finding = Finding::new(Level::Error, error.to_string());
    match error.hint() {
        Some(hint) => finding.hint(hint),
        None => finding,
    }
}
