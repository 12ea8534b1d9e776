//! `cargo xtask torture --only hostile-stores`: runs every hook and command in stores that an attacker made.
//!
//! The rules are: no command from such a store runs, no prompt from it reaches an agent as if the user had written it,
//! no record in it makes `thru` read or write outside the project, and no record delays a hook. To add an attack
//! through records, add a line to `ATTACKS`. To add an attack through the layout, add a line to `layouts`.

mod arrivals;
mod commands;
mod edited;
mod files;
mod hooks;
mod layouts;
mod machine;
mod run;
mod verdict;

use std::collections::BTreeMap;
use std::sync::Mutex;

use anyhow::{Result, ensure};

use super::{LossKind, TortureDepth, TortureFailure, TortureTally, on_all_cores};
use crate::sandbox::{Sandbox, SandboxRoot};
use crate::table::{self, ColumnAlignment};
use arrivals::ARRIVALS;
use files::RepositoryItem;
use run::StoreRunner;
use verdict::Violation;

/// The user who runs the commands. Only root can run them as a user other than the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestUser {
    CurrentUser,
    Root,
    Nobody,
    OtherUser,
}

impl TestUser {
    pub fn id(self) -> &'static str {
        match self {
            Self::CurrentUser | Self::Root => "0",
            Self::Nobody => "65534",
            Self::OtherUser => "65533",
        }
    }
}

/// What hooks and commands may do in a store.
#[derive(Debug, Clone)]
pub struct StoreRules {
    /// Whether the user has trusted the store. In a trusted store, hooks write records and reply.
    pub is_trusted: bool,
    /// The folders whose records may be written.
    pub writable_folders: Vec<&'static str>,
    /// The user's state folder, which contains trust, consent and backups.
    pub state_folder: &'static str,
}

/// Creates a store as an attacker would.
pub type ArrangeFn = Box<dyn Fn(&Sandbox) -> Result<()> + Sync>;

pub struct HostileStore {
    pub group: &'static str,
    pub name: String,
    pub rules: StoreRules,
    pub arrange: ArrangeFn,
    /// The folder in which commands run, relative to the sandbox.
    pub cwd: &'static str,
    /// An environment variable and its value. `@` in the value is replaced with the path of the sandbox.
    pub variable: Option<(&'static str, &'static str)>,
    pub user: TestUser,
}

impl HostileStore {
    fn new(
        group: &'static str,
        name: impl Into<String>,
        is_trusted: bool,
        arrange: impl Fn(&Sandbox) -> Result<()> + Sync + 'static,
    ) -> Self {
        let rules = StoreRules { is_trusted, writable_folders: vec!["project"], state_folder: "state" };
        let arrange = Box::new(arrange);
        Self {
            group,
            name: name.into(),
            rules,
            arrange,
            cwd: "project",
            variable: None,
            user: TestUser::CurrentUser,
        }
    }

    fn trusted(
        group: &'static str,
        name: impl Into<String>,
        arrange: impl Fn(&Sandbox) -> Result<()> + Sync + 'static,
    ) -> Self {
        Self::new(group, name, true, arrange)
    }

    fn untrusted(
        group: &'static str,
        name: impl Into<String>,
        arrange: impl Fn(&Sandbox) -> Result<()> + Sync + 'static,
    ) -> Self {
        Self::new(group, name, false, arrange)
    }

    fn matches_filter(&self, text: &str) -> bool {
        format!("{}, {}", self.group, self.name).contains(text)
    }

    fn run_in_folder(mut self, cwd: &'static str) -> Self {
        self.cwd = cwd;
        self.rules.writable_folders = vec![cwd];
        self
    }

    fn may_write_in(mut self, folder: &'static str) -> Self {
        self.rules.writable_folders.push(folder);
        self
    }

    fn run_by(mut self, user: TestUser) -> Self {
        self.user = user;
        self
    }

    /// Sets `XDG_STATE_HOME` to `value`, which names the folder `state` of the sandbox.
    fn with_state_home(mut self, value: &'static str, state: &'static str) -> Self {
        self.variable = Some(("XDG_STATE_HOME", value));
        self.rules.state_folder = state;
        self
    }
}

type StoreAttack = (&'static str, fn(&Sandbox) -> Vec<RepositoryItem>);

/// Records that try to make `thru` run a command or give a prompt to an agent. Each attack arrives in the project in
/// several ways.
const ATTACKS: &[StoreAttack] = &[
    ("everything at once", files::attack_with_everything),
    ("active loop and pointer", files::attack_with_active_loop),
    ("loop for the next session", files::attack_with_waiting_loop),
    ("newest loop, no session", files::attack_with_newest_loop),
    ("loop without a pointer", files::attack_with_loop_without_pointer),
    ("paused loop", files::attack_with_paused_loop),
    ("cancelled loop with a pointer", files::attack_with_finished_loop),
    ("run with launch commands", files::attack_with_run_commands),
    ("run that is not live", files::attack_with_run_not_live),
    ("run elsewhere in the project", files::attack_with_run_elsewhere),
    ("live.json names a folder outside", files::attack_with_live_run_outside),
    ("live.json climbs out", files::attack_with_live_run_above),
    ("live.json goes through a link", files::attack_with_linked_live_run),
    ("outputs are links", files::attack_with_linked_outputs),
    ("outputs with paths", files::attack_with_output_paths),
    ("stage definition", files::attack_with_stage),
    ("stage with listed outputs", files::attack_with_stage_outputs),
    ("live_state_file outside", files::attack_with_state_file_outside),
    ("live_state_file climbs out", files::attack_with_state_file_above),
    ("live_state_file names a folder outside", files::attack_with_state_file_naming_outside),
    ("live_state_file with launch commands", files::attack_with_state_file_commands),
    ("bold settings", files::attack_with_settings),
    ("packet with validators", files::attack_with_packet),
    ("role file bound to the session", files::attack_with_role),
    ("role file is a link", files::attack_with_linked_role),
    ("manifest with paths outside", files::attack_with_manifest),
    ("manifest whose steps are a link", files::attack_with_linked_steps),
    ("forged state and indexes", files::attack_with_forged_state),
    ("leftovers of other tools", files::attack_with_files_of_other_tools),
];

fn all_stores(depth: TortureDepth) -> Vec<HostileStore> {
    let mut stores = Vec::new();
    for (number, &(name, make)) in ATTACKS.iter().enumerate() {
        for (at, arrival) in ARRIVALS.iter().enumerate() {
            // A quick run tries the first attack in every way. It tries each of the remaining attacks in only one way,
            // and alternates between the ways.
            if depth == TortureDepth::Quick && number > 0 && number % ARRIVALS.len() != at {
                continue;
            }
            stores.push(HostileStore::new(arrival.name, name, arrival.is_trusted, move |sandbox| {
                (arrival.bring_items)(sandbox, &make(sandbox))
            }));
        }
    }
    stores.extend(edited::edited_stores());
    let layouts = layouts::layout_stores().into_iter().enumerate();
    // A quick run tries only every second link, because the same few lines of code handle all links.
    stores.extend(
        layouts
            .filter(|(at, store)| {
                depth == TortureDepth::Full || store.group != layouts::LINKED_STORES_GROUP_NAME || at % 2 == 0
            })
            .map(|(_, store)| store),
    );
    stores
}

pub fn does_any_store_match_filter(text: &str) -> bool {
    all_stores(TortureDepth::Full).iter().any(|store| store.matches_filter(text))
}

#[derive(Debug, Default, Clone)]
struct GroupCounts {
    stores: usize,
    hooks: usize,
    commands: usize,
    violations: BTreeMap<Violation, usize>,
    slowest_ms: u64,
    largest_kb: u64,
}

pub fn hostile_stores(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    let runner = StoreRunner::new(lab)?;
    runner.check_control_case(lab)?;
    let mut stores = all_stores(depth);
    // Each store is on disk only while it is tested.
    let mut skipped = Vec::new();
    if !runner.can_run_as_other_user() {
        stores.retain(|store| store.user == TestUser::CurrentUser);
        skipped.push("stores of other users: testing them needs root and `setpriv`".to_owned());
    }
    ensure!(stores.len() >= 60, "only {} hostile stores", stores.len());
    stores.retain(|store| store.matches_filter(&lab.row_filter));
    let counts: Mutex<BTreeMap<&'static str, GroupCounts>> = Mutex::default();
    let mut tally = on_all_cores(&stores, |at, store| {
        let found = runner.try_store(lab, at, store, depth)?;
        let mut counts = counts.lock().expect("a worker panicked");
        let group = counts.entry(store.group).or_default();
        group.stores += 1;
        group.hooks += found.hooks;
        group.commands += found.commands;
        group.slowest_ms = group.slowest_ms.max(found.slowest_ms);
        group.largest_kb = group.largest_kb.max(found.largest_kb);
        let mut tally =
            TortureTally { points_tested: found.hooks + found.commands, ..TortureTally::default() };
        for (violation, text, what) in found.violations {
            *group.violations.entry(violation).or_default() += 1;
            let reproduce = format!("{}, {}: {what}", store.group, store.name);
            tally.failures.push(TortureFailure {
                loss: LossKind::NoLoss,
                text: format!("{violation:?}: {text}"),
                reproduce,
            });
        }
        Ok(tally)
    })?;
    tally.skipped.extend(skipped);
    tally.tables.push(counts_table(&counts.into_inner().expect("a worker panicked")));
    Ok(tally)
}

const TABLE_COLUMNS: [(Violation, &str); 6] = [
    (Violation::RanCommand, "commands run"),
    (Violation::PromptGiven, "prompts given"),
    (Violation::WroteForbidden, "written outside"),
    (Violation::LeakedText, "shown from outside"),
    (Violation::ExceededLimits, "hooks over limits"),
    (Violation::Crashed, "broke"),
];

fn counts_table(groups: &BTreeMap<&'static str, GroupCounts>) -> String {
    let mut head = ["hostile stores", "stores", "hooks", "commands"].map(str::to_owned).to_vec();
    head.extend(TABLE_COLUMNS.map(|(_, title)| title.to_owned()));
    head.extend(["slowest hook", "largest hook"].map(str::to_owned));
    let mut rows = vec![head];
    let mut total = GroupCounts::default();
    for (name, group) in groups {
        rows.push(counts_row(name, group));
        total.stores += group.stores;
        total.hooks += group.hooks;
        total.commands += group.commands;
        total.slowest_ms = total.slowest_ms.max(group.slowest_ms);
        total.largest_kb = total.largest_kb.max(group.largest_kb);
        for (violation, count) in &group.violations {
            *total.violations.entry(*violation).or_default() += count;
        }
    }
    rows.push(counts_row("all", &total));
    let mut align = vec![ColumnAlignment::Right; rows[0].len()];
    align[0] = ColumnAlignment::Left;
    table::plain_table(&align, &rows)
}

fn counts_row(name: &str, group: &GroupCounts) -> Vec<String> {
    let mut row = vec![name.to_owned()];
    row.extend([group.stores, group.hooks, group.commands].map(table::format_thousands));
    row.extend(TABLE_COLUMNS.map(|(violation, _)| {
        table::format_thousands(group.violations.get(&violation).copied().unwrap_or_default())
    }));
    row.push(format!("{} ms", group.slowest_ms));
    row.push(format!("{:.1} MB", group.largest_kb as f64 / 1024.0));
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_enough_stores_and_no_two_of_the_same_name() {
        for depth in [TortureDepth::Quick, TortureDepth::Full] {
            let stores = all_stores(depth);
            assert!(stores.len() >= 60, "{} stores", stores.len());
            let mut names: Vec<_> = stores.iter().map(|store| (store.group, &store.name)).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), stores.len());
        }
    }

    #[test]
    fn every_event_of_every_harness_is_called() {
        let hooks = hooks::all_hooks().unwrap();
        for harness in harness::HARNESSES {
            for wired in harness.events {
                assert!(
                    hooks
                        .iter()
                        .any(|hook| hook.harness == harness.name && hook.event == wired.harness_event)
                );
            }
        }
    }
}
