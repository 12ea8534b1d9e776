//! `thru doctor`: examines everything and reports what it finds. It changes nothing, except that it writes and
//! removes a scratch file to test the disk.

use std::path::{Path, PathBuf};

use harness::plugin::InstalledPlugin;
use harness::{HARNESSES, Harness, InstallMethod, RegisteredEvent};
use jiff::SignedDuration;
use model::event::EventName;
use model::finding::{Finding, FindingLevel};
use model::marker::ProjectId;
use model::receipt::{HookOutcome, RECORDS_LOST_EVENT, Receipt};
use model::text::count_with_noun;
use model::time;
use serde::Serialize;
use store::{Dir, FolderEntryKind, FoundRoot, GitTrackedFiles, Store, layout};

use crate::features::{DoctorCheck, FEATURES, ProjectContext};
use crate::hook::lost;
use crate::project::{settings, trust};
use crate::session::hook_statistics::{self, EventStatistics, HookStatistics};
use crate::setup::install::{self, CallingFile};
use crate::{Error, World};

/// Hook failures that are older than this are not reported.
const MAX_AGE_OF_REPORTED_HOOK_FAILURE: SignedDuration = SignedDuration::from_hours(7 * 24);

/// How many findings of one kind are listed.
const MAX_FINDINGS_NAMED: usize = 5;

/// How many bytes are read from the end of the receipts in the state folder.
const STATE_RECEIPTS_TAIL_BYTES: u64 = 32 * 1024;

#[derive(Clone, Debug, Serialize)]
pub struct DoctorReport {
    pub root: Option<PathBuf>,
    /// The checks, in the order in which they were made.
    pub checks: Vec<DoctorCheck>,
    /// Which events have fired, how often, and how long handling them took.
    pub events: Vec<EventStatistics>,
}

impl DoctorReport {
    /// Returns whether there is nothing to act on. Notes are only for information.
    pub fn is_clean(&self) -> bool {
        self.checks
            .iter()
            .flat_map(|check| &check.findings)
            .all(|finding| finding.level == FindingLevel::Note)
    }
}

pub fn run_doctor(world: &World) -> DoctorReport {
    let found = world.find_root();
    let mut report = DoctorReport { root: None, checks: vec![check_root(world, &found)], events: Vec::new() };
    let (store, checkout) = match &found {
        Ok(FoundRoot::Marked { root, store, marker }) => {
            report.root = Some(root.path.clone());
            let holds = world.trust_records().map(|trust| trust.is_trusted(&marker.project_id, &root.path));
            let trusted = matches!(holds, Some(Ok(true)));
            let moved_from = trust::former_root(world, &marker.project_id, &root.path);
            report.checks.push(check_trust(holds, moved_from));
            report.checks.push(check_settings(world, trusted.then_some(store)));
            let settings = settings::resolve_settings(world, trusted.then_some(store)).settings();
            if trusted {
                report.checks.push(check_disk(world, store, &marker.project_id));
            }
            let project = ProjectContext { world, root, store, settings: &settings };
            report.checks.push(check_files(store));
            for feature in FEATURES {
                let checks = feature.call_catching_panics(|| Ok((feature.doctor_checks)(&project)));
                report.checks.extend(checks.unwrap_or_else(|error| {
                    let findings = vec![Finding::from(&error)];
                    vec![DoctorCheck { name: feature.name, text: "cannot be checked".to_owned(), findings }]
                }));
            }
            (store, &root.checkout)
        }
        _ => {
            report.checks.push(check_settings(world, None));
            return report;
        }
    };
    match hook_statistics::read_hook_statistics(store) {
        Ok(firing) => {
            let mut check = check_hooks(world, &firing);
            check.findings.extend(hooks_not_installed_finding(world, checkout, &firing));
            check.findings.extend(rootless_receipt_findings(world));
            report.checks.push(check);
            let checks =
                HARNESSES.iter().filter_map(|harness| check_harness(world, harness, checkout, &firing));
            report.checks.extend(checks.collect::<Vec<_>>());
            report.events = firing.fired_events;
        }
        Err(error) => {
            let findings = vec![Finding::from(&error)];
            report.checks.push(DoctorCheck { name: "hooks", text: "cannot be read".to_owned(), findings });
        }
    }
    report
}

fn check_root(world: &World, found: &crate::Result<FoundRoot>) -> DoctorCheck {
    let mut findings = Vec::new();
    let text = match found {
        Ok(FoundRoot::Marked { root, marker, .. }) => {
            format!("{} ({})", root.path.display(), marker.project_id.as_str())
        }
        Ok(FoundRoot::Unmarked(root)) => {
            findings.push(match store::git::missing_git_folder_of_worktree(&root.checkout) {
                Some(missing) => {
                    let text = format!(
                        "git cannot find the main checkout of this worktree: there is no {}",
                        missing.display()
                    );
                    Finding::new(FindingLevel::Warning, text).with_hint(crate::error::REPAIR_WORKTREE_HINT)
                }
                None => Finding::new(FindingLevel::Warning, "there is no root here")
                    .with_hint("run `thru init` in your project's folder to create one"),
            });
            findings.extend(world.excluded_root().map(|(path, why)| {
                let text = format!("{}: this root is not used for the current folder: {why}", path.display());
                Finding::new(FindingLevel::Note, text)
                    .with_hint("`roots.allow` in your own settings can allow it")
            }));
            format!("none; it would be {}", root.path.display())
        }
        Err(error) => {
            findings.push(Finding::from(error));
            "cannot be used".to_owned()
        }
    };
    DoctorCheck { name: "root", text, findings }
}

fn check_trust(holds: Option<store::Result<bool>>, moved_from: Option<String>) -> DoctorCheck {
    let (text, finding) = match (holds, moved_from) {
        (Some(Ok(true)), None) => ("trusted on this machine".to_owned(), None),
        (Some(Ok(true)), Some(from)) => {
            let finding = Finding::new(
                FindingLevel::Note,
                format!("this project is also trusted at {from}, which no longer exists"),
            );
            let hint =
                "if you moved it, `thru trust --moved` forgets that path and keeps what you allowed there";
            ("trusted on this machine".to_owned(), Some(finding.with_hint(hint)))
        }
        (Some(Ok(false)), Some(from)) => {
            let text =
                format!("this project was moved from {from}, and hooks record nothing at its new path");
            let finding = Finding::new(FindingLevel::Warning, text).with_hint("run `thru trust --moved`");
            ("not trusted at this path".to_owned(), Some(finding))
        }
        (Some(Ok(false)), None) => {
            let text = "hooks record nothing in a store that is not trusted, and tell the agent nothing";
            let finding = Finding::new(FindingLevel::Warning, text)
                .with_hint("look at the records in .agent/context, then run `thru trust`");
            ("not trusted".to_owned(), Some(finding))
        }
        (Some(Err(error)), _) => ("cannot be read".to_owned(), Some(Finding::from(&Error::from(error)))),
        (None, _) => {
            let finding = Finding::new(FindingLevel::Warning, "neither HOME nor XDG_STATE_HOME is set");
            ("unknown".to_owned(), Some(finding.with_hint("set HOME to your home folder")))
        }
    };
    DoctorCheck { name: "trust", text, findings: finding.into_iter().collect() }
}

fn check_settings(world: &World, store: Option<&Store>) -> DoctorCheck {
    let resolved = settings::resolve_settings(world, store);
    let set = resolved.entries.iter().filter(|entry| entry.source != "default").count();
    let is_off = !resolved.settings().hooks_enabled;
    let mut findings = resolved.findings;
    if is_off {
        let off = Finding::new(FindingLevel::Warning, "hooks.enabled is false: no hook does anything here");
        findings.push(off.with_hint("`thru config` shows where that is set"));
    }
    if world.is_variable_on("THROUGHLINE_DISABLE") {
        findings.push(Finding::new(
            FindingLevel::Note,
            "THROUGHLINE_DISABLE is set: hooks are off in this shell",
        ));
    }
    let text = if set == 0 {
        "all at their defaults".to_owned()
    } else {
        format!("{} changed", count_with_noun(set, "setting"))
    };
    DoctorCheck { name: "settings", text, findings }
}

/// Reports problems with the store's files: damaged files that were moved aside, torn lines, leftovers, links and
/// unreadable files.
fn check_files(store: &Store) -> DoctorCheck {
    let mut walk = StoreFileChecker::default();
    walk.walk_folder(store.dir(), "");
    walk.findings.extend(tracked_file_findings(store));
    let text =
        format!("{} in {}", count_with_noun(walk.files, "file"), count_with_noun(walk.folders, "folder"));
    DoctorCheck { name: "files", text, findings: walk.findings }
}

/// Reports machine-local files that git tracks.
fn tracked_file_findings(store: &Store) -> Vec<Finding> {
    match store.tracked_files() {
        GitTrackedFiles::NoneTracked => Vec::new(),
        GitTrackedFiles::Files(files) => {
            let of = |file: &String| {
                Finding::new(
                    FindingLevel::Warning,
                    "git tracks this machine-local file, so its content is not trusted",
                )
                .at_line(file.clone(), None)
                .with_hint(format!(
                    "run `git rm --force {}/{file}`, and commit the change",
                    layout::STORE_FOLDER
                ))
            };
            files.iter().map(of).collect()
        }
        GitTrackedFiles::Unknown(why) => {
            let text = format!(
                "cannot determine whether git tracks files in indexes/ and state/ ({why}), so none of them is trusted"
            );
            vec![
                Finding::new(FindingLevel::Warning, text)
                    .with_hint("`git status` says what is wrong with the index"),
            ]
        }
    }
}

/// Checks whether the folders that hooks use can be written to. A hook that cannot write cannot report the problem
/// either.
fn check_disk(world: &World, store: &Store, project: &ProjectId) -> DoctorCheck {
    let failed = lost::errors_of_unwritable_folders(store);
    let text = if failed.is_empty() { "records can be written" } else { "records cannot be written" };
    let mut findings: Vec<Finding> =
        failed.into_iter().map(|error| Finding::from(&Error::from(error))).collect();
    if let Some(lost) = lost::describe_unreported_loss(world, store, project) {
        findings.push(
            Finding::new(FindingLevel::Warning, lost).with_hint(
                "this loss will be recorded in a receipt by the next hook that is able to write one",
            ),
        );
    }
    DoctorCheck { name: "disk", text: text.to_owned(), findings }
}

#[derive(Default)]
struct StoreFileChecker {
    files: usize,
    folders: usize,
    findings: Vec<Finding>,
}

impl StoreFileChecker {
    fn walk_folder(&mut self, dir: &Dir, prefix: &str) {
        self.folders += 1;
        let entries = match dir.entries() {
            Ok(entries) => entries,
            Err(error) => return self.findings.push(Finding::from(&Error::from(error))),
        };
        for entry in entries {
            let rel = if prefix.is_empty() { entry.name.clone() } else { format!("{prefix}/{}", entry.name) };
            match entry.kind {
                FolderEntryKind::Folder => match dir.open_subfolder(&entry.name) {
                    Ok(sub) => self.walk_folder(&sub, &rel),
                    Err(error) => self.findings.push(Finding::from(&Error::from(error))),
                },
                FolderEntryKind::File => self.check_file(dir, &entry.name, &rel),
                FolderEntryKind::Other => {
                    let finding =
                        Finding::new(FindingLevel::Warning, "a link or a special file; thru never opens it");
                    self.findings.push(
                        finding
                            .at_line(rel, None)
                            .with_hint("put a regular file there, or remove what is there"),
                    );
                }
            }
        }
    }

    fn check_file(&mut self, dir: &Dir, name: &str, rel: &str) {
        self.files += 1;
        let note = |text: &str| Finding::new(FindingLevel::Note, text).at_line(rel, None);
        if name.starts_with('.') && name.ends_with(".tmp") {
            self.findings.push(note("left by an interrupted write; the record itself is complete"));
        } else if name.contains(".damaged-") {
            self.findings.push(note("a damaged record that was moved aside; nothing reads it any more"));
        } else if name.ends_with(".jsonl") {
            self.check_log(dir, name, rel);
        }
    }

    fn check_log(&mut self, dir: &Dir, name: &str, rel: &str) {
        // Read only this part of a rotated log, because each of the other parts has its own entry in the folder.
        let mut torn = Vec::new();
        let read = dir.each_line(name, |number, line| {
            let blank = line.iter().all(u8::is_ascii_whitespace);
            let whole = line.trim_ascii_start().starts_with(b"{")
                && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
            if !blank && !whole {
                torn.push(number);
            }
        });
        if let Err(error) = read {
            self.findings.push(Finding::from(&Error::from(error)));
        }
        if let Some(first) = torn.first() {
            let what = match torn.len() {
                1 => "1 line could not be read".to_owned(),
                lines => format!("{lines} lines could not be read"),
            };
            let text = format!(
                "{what} (cut off by a crash, or not written by thru); readers skip what they cannot read, and nothing is deleted"
            );
            self.findings.push(Finding::new(FindingLevel::Note, text).at_line(rel, Some(*first)));
        }
    }
}

/// Reports recent hook failures, each kind once, and compactions that were not followed by a brief.
fn check_hooks(world: &World, firing: &HookStatistics) -> DoctorCheck {
    let recent = |receipt: &&Receipt| {
        let young = receipt
            .parsed_time()
            .is_some_and(|at| world.now.duration_since(at) < MAX_AGE_OF_REPORTED_HOOK_FAILURE);
        receipt.outcome == HookOutcome::Failed && young
    };
    let mut failed: Vec<&Receipt> = Vec::new();
    for receipt in firing.receipts.iter().filter(recent) {
        failed.retain(|known| (&known.event, &known.error) != (&receipt.event, &receipt.error));
        failed.push(receipt);
    }
    let mut findings: Vec<Finding> =
        failed.iter().rev().take(MAX_FINDINGS_NAMED).map(|receipt| receipt_finding(world, receipt)).collect();
    if failed.len() > MAX_FINDINGS_NAMED {
        findings.push(Finding::new(
            FindingLevel::Note,
            format!("and {} more", failed.len() - MAX_FINDINGS_NAMED),
        ));
    }
    for session in firing.sessions_awaiting_brief.iter().take(MAX_FINDINGS_NAMED) {
        let text = format!("session {session} was compacted, and no session start has followed yet");
        findings.push(
            Finding::new(FindingLevel::Note, text).with_hint("the brief will be sent with its next prompt"),
        );
    }
    for session in firing.sessions_ended_without_brief.iter().rev().take(MAX_FINDINGS_NAMED) {
        let text = format!(
            "session {session} ended after a compaction, but no session start followed the compaction, so no brief was sent"
        );
        findings.push(
            Finding::new(FindingLevel::Note, text)
                .with_hint("check that SessionStart is wired; `thru brief --session` shows the brief"),
        );
    }
    for (kind, times) in firing.unknown_line_types.iter().take(MAX_FINDINGS_NAMED) {
        let text =
            format!("transcript lines of type `{kind}`, which this version of thru does not know: {times}");
        findings
            .push(Finding::new(FindingLevel::Note, text).with_hint("a newer version of thru may know them"));
    }
    if firing.unread_transcript_bytes > 0 {
        let text =
            format!("{} KiB of transcripts was skipped as too old", firing.unread_transcript_bytes / 1024);
        findings.push(
            Finding::new(FindingLevel::Note, text)
                .with_hint("hooks that run from the start of a session miss nothing"),
        );
    }
    // Tool calls leave no receipt, so use the counted events. If another event left a receipt in the same second,
    // name that event.
    let by_receipt = firing.receipts.iter().rev().find_map(|receipt| {
        firing
            .fired_events
            .iter()
            .find(|fired| (&fired.event, &fired.last_at) == (&receipt.event, &receipt.ts))
    });
    let newest = firing.fired_events.iter().max_by(|a, b| a.last_at.cmp(&b.last_at));
    let last = match (by_receipt, newest) {
        (Some(receipt), Some(newest)) if newest.last_at <= receipt.last_at => Some(receipt),
        (_, newest) => newest,
    };
    let text = last.map(|last| {
        let ago =
            time::parse_time(&last.last_at).map_or(String::new(), |at| time::describe_age(at, world.now));
        let runs = firing.fired_events.iter().map(|fired| fired.runs).sum();
        format!("{}, last: {} {ago}", count_with_noun(runs, "hook run"), last.event)
    });
    DoctorCheck { name: "hooks", text: text.unwrap_or_else(|| "no hook has run yet".to_owned()), findings }
}

/// Reports that no settings file calls thru. If hooks have run, this is only a note, because a plugin of the harness
/// may be calling thru.
fn hooks_not_installed_finding(world: &World, checkout: &Path, firing: &HookStatistics) -> Option<Finding> {
    if HARNESSES.iter().any(|harness| !install::wired_files_in_force(world, harness, checkout).is_empty()) {
        return None;
    }
    let mut used = install::harnesses_in_use(world, checkout).into_iter();
    let advice =
        used.find_map(|harness| install::local_settings_file_tracked_by_git(world, harness, checkout));
    let hint = advice.map_or_else(
        || {
            "`thru init` installs hooks for the harnesses that it finds; `thru install HARNESS` installs them for another one"
                .to_owned()
        },
        |(_, advice)| advice,
    );
    Some(match firing.fired_events.is_empty() {
        true => Finding::new(
            FindingLevel::Warning,
            "no settings file calls thru here, and no hook has ever run: nothing is captured",
        )
        .with_hint(hint),
        false => Finding::new(
            FindingLevel::Note,
            "no settings file calls thru here: unless a plugin does, nothing is captured any more",
        )
        .with_hint(hint),
    })
}

/// Reports the receipts that hooks left in the state folder. They are about events without a root, and about bugs.
fn rootless_receipt_findings(world: &World) -> Vec<Finding> {
    let receipts = world
        .trust_records()
        .map(|trust| trust.last_receipts_in_state_folder(STATE_RECEIPTS_TAIL_BYTES))
        .unwrap_or_default();
    let is_recent = |receipt: &&Receipt| {
        receipt
            .parsed_time()
            .is_some_and(|at| world.now.duration_since(at) < MAX_AGE_OF_REPORTED_HOOK_FAILURE)
    };
    let mut findings: Vec<Finding> = Vec::new();
    for receipt in receipts.iter().rev().filter(is_recent) {
        let finding = receipt_finding(world, receipt);
        if findings.len() < MAX_FINDINGS_NAMED && !findings.iter().any(|known| known.text == finding.text) {
            findings.push(finding);
        }
    }
    findings
}

/// Reports which files make a harness call thru, and which of the harness's events have never fired.
fn check_harness(
    world: &World,
    harness: &'static Harness,
    project: &Path,
    firing: &HookStatistics,
) -> Option<DoctorCheck> {
    let wired = install::wired_files_in_force(world, harness, project);
    let mut findings: Vec<Finding> = install::unusable_settings_files(world, harness, project)
        .into_iter()
        .map(|(path, why)| Finding::new(FindingLevel::Error, why).at_line(path.display().to_string(), None))
        .map(|finding| finding.with_hint("fix the file; until then, none of its hooks run"))
        .collect();
    let version =
        install::installed_version(world, harness).map_or(String::new(), |version| format!(" {version}"));
    let fired = |event: EventName| {
        firing.fired_events.iter().any(|f| f.harness == harness.name && f.event == event.name())
    };
    let has_fired = |wired: &RegisteredEvent| {
        fired(wired.our_event)
            || harness.summary_event == Some(wired.harness_event) && fired(EventName::Summary)
    };
    if wired.is_empty() {
        let used = install::harnesses_in_use(world, project).iter().any(|used| used.name == harness.name);
        let text = format!("{}{version} is in use here, but not wired", harness.title);
        let (text, hint) = match install::local_settings_file_tracked_by_git(world, harness, project) {
            Some((path, advice)) => (format!("{text}: {} is in git", path.display()), advice),
            None => (text, format!("`thru install {}` wires it", harness.name)),
        };
        findings.push(Finding::new(FindingLevel::Note, text).with_hint(hint));
        return used.then(|| DoctorCheck { name: harness.name, text: "not wired".to_owned(), findings });
    }
    let hooks: Vec<&str> = wired.iter().flat_map(|file| &file.events).map(String::as_str).collect();
    for event in harness.events {
        if !hooks.contains(&event.harness_event) {
            let text = format!("{} is not wired", event.harness_event);
            let hint = format!("`thru install {}` adds it", harness.name);
            findings.push(Finding::new(FindingLevel::Warning, text).with_hint(hint));
        }
    }
    let silent: Vec<&str> =
        harness.events.iter().filter(|e| !has_fired(e)).map(|e| e.harness_event).collect();
    // If no event has fired yet, `check_hooks` reports this.
    if !silent.is_empty() && silent.len() < harness.events.len() {
        findings.push(Finding::new(
            FindingLevel::Note,
            format!("wired, but never fired here: {}", silent.join(", ")),
        ));
    }
    findings.extend(wired.iter().flat_map(|file| check_plugin(harness, file)));
    for file in &wired {
        if install::is_wired_file_ignored(harness, file) {
            let finding =
                Finding::new(FindingLevel::Warning, install::note_on_file_ignored_by_harness(harness));
            findings.push(
                finding
                    .at_line(file.path.display().to_string(), None)
                    .with_hint("remove them, or use another scope"),
            );
        }
    }
    if wired.len() > 1 {
        let finding = match harness.install {
            InstallMethod::HookTable(_) => Finding::new(
                FindingLevel::Warning,
                "wired more than once: every event arrives twice, and so does the brief",
            ),
            // A copy of a plugin does nothing if another copy is already active.
            InstallMethod::Plugin(_) => {
                Finding::new(FindingLevel::Note, "installed more than once: only one copy is active")
            }
        };
        findings.push(finding.with_hint(format!(
            "keep one; `thru uninstall {} --user` (or --local, --project) removes the other",
            harness.name
        )));
    }
    if let Some(days) = install::transcript_retention_days(world, harness) {
        let text =
            format!("{} deletes its transcripts after {days} days; what thru captured stays", harness.title);
        findings.push(Finding::new(FindingLevel::Note, text));
    }
    findings
        .extend(install::renamed_command_note(harness).map(|words| Finding::new(FindingLevel::Note, words)));
    let file = |file: &CallingFile| match &file.plugin {
        Some(plugin) => format!("{} (plugin {})", file.path.display(), plugin.version),
        None => format!("{} ({})", file.path.display(), file.events.len()),
    };
    let files: Vec<String> = wired.iter().map(file).collect();
    let last =
        firing.fired_events.iter().filter(|fired| fired.harness == harness.name).map(|fired| &fired.last_at);
    let last = last.max().and_then(|at| time::parse_time(at));
    let last = last.map_or(String::new(), |at| format!(", last event {}", time::describe_age(at, world.now)));
    Some(DoctorCheck {
        name: harness.name,
        text: format!("{}{version}, hooks in {}{last}", harness.title, files.join(", ")),
        findings,
    })
}

/// Reports a plugin if its version differs from this program's version, or if it calls a program that does not exist.
fn check_plugin(harness: &Harness, file: &CallingFile) -> Vec<Finding> {
    let Some(InstalledPlugin { thru_path, version }) = &file.plugin else { return Vec::new() };
    let mut findings = Vec::new();
    if version != install::THRU_VERSION {
        findings
            .push(format!("the plugin is version {version}, but thru is version {}", install::THRU_VERSION));
    }
    if Path::new(thru_path).is_absolute() && !Path::new(thru_path).exists() {
        findings.push(format!("the plugin calls {thru_path}, which does not exist"));
    }
    let hint = format!("`thru install {}` reinstalls it", harness.name);
    let finding = |text: String| {
        Finding::new(FindingLevel::Warning, text)
            .at_line(file.path.display().to_string(), None)
            .with_hint(hint.clone())
    };
    findings.into_iter().map(finding).collect()
}

fn receipt_finding(world: &World, receipt: &Receipt) -> Finding {
    let why = receipt.error.as_deref().unwrap_or("no reason given");
    if receipt.event == RECORDS_LOST_EVENT {
        return Finding::new(FindingLevel::Warning, lost::format_times_for_reader(world, why))
            .with_hint("transcripts may still contain what was lost: `thru handoff --transcript`");
    }
    Finding::new(
        FindingLevel::Warning,
        format!(
            "the {} hook for {} failed at {}: {why}",
            receipt.harness,
            receipt.event,
            (world.time_for_reader)(&receipt.ts)
        ),
    )
}
