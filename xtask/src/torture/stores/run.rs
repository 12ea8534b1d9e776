//! Runs every hook and command in one store and reports violations.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::commands::{self, CommandLine, StoreCommandKind};
use super::files::{self, canaries_folder};
use super::hooks::{self, HookSpec};
use super::verdict::{self, Violation, Violations};
use super::{HostileStore, StoreRules, TestUser, edited};
use crate::memory::PeakMemoryHelper;
use crate::sandbox::{self, Sandbox, SandboxRoot};
use crate::torture::TortureDepth;
use crate::torture::prepare::STOP_HOOK_ARGV;
use crate::torture::snapshot::Snapshot;

/// How long starting a process may take on a busy machine. A hook's own deadline begins only when the hook runs.
const PROCESS_START_MS: u64 = 50;
const MAX_MEMORY_KB: u64 = 8 * 1024;
/// How much memory a hook may use in addition to the size of a large debug binary.
const MAX_OWN_MEMORY_KB: u64 = 6 * 1024;
/// The longest time that a command may take, in seconds. A user would assume that a slower command hangs.
const MAX_COMMAND_SECONDS: u64 = 5;
/// A harmless command starts nothing and writes no settings. A quick run tries one out of every
/// `HARMLESS_COMMANDS_PER_TEST` harmless commands.
const HARMLESS_COMMANDS_PER_TEST: usize = 5;
/// How many times a slow hook is measured. The hook is reported only if it is slow every time.
const MAX_MEASUREMENTS_OF_SLOW_HOOK: u64 = 8;

pub struct StoreRunner {
    bin: PathBuf,
    helper: PeakMemoryHelper,
    hooks: Vec<HookSpec>,
    lines: Vec<CommandLine>,
    largest_kb: u64,
}

#[derive(Debug, Default)]
pub struct StoreFindings {
    pub hooks: usize,
    pub commands: usize,
    pub slowest_ms: u64,
    pub largest_kb: u64,
    /// Each violation with its description and the command line that caused it.
    pub violations: Vec<(Violation, String, String)>,
}

impl StoreFindings {
    fn add_violations(&mut self, what: &str, violations: Violations) {
        self.violations
            .extend(violations.into_iter().map(|(violation, text)| (violation, text, what.to_owned())));
    }
}

/// One store on disk, and its initial state.
struct StoreTrial<'a> {
    store: &'a HostileStore,
    sandbox: Sandbox,
    snapshot_before: Snapshot,
}

impl StoreRunner {
    pub fn new(lab: &SandboxRoot) -> Result<Self> {
        // Other users must be able to reach the folder of the sandboxes.
        fs::set_permissions(lab.path(), fs::Permissions::from_mode(0o755))?;
        let bin = lab.path().join("thru");
        fs::copy(&lab.bin, &bin).context("copying the binary")?;
        let sandbox = lab.sandbox("help")?;
        let lines = commands::all_command_lines(&sandbox)?;
        let helper = PeakMemoryHelper::build()?;
        let (_, idle) = helper.measure(&sandbox.thru_command(&["hook", "claude-code", "Stop"]), b"{}")?;
        let largest_kb = MAX_MEMORY_KB.max(idle.memory_kb + MAX_OWN_MEMORY_KB);
        Ok(Self { bin, helper, hooks: hooks::all_hooks()?, lines, largest_kb })
    }

    pub fn can_run_as_other_user(&self) -> bool {
        let root =
            Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0");
        let setpriv = Command::new("setpriv").arg("--version").stdout(Stdio::null()).status();
        root && setpriv.is_ok_and(|status| status.success())
    }

    /// Checks that the torture tests would notice a violation. The user allows a loop's prompt and a run's launch
    /// here, and the tests must detect both. Otherwise the tests could pass because they detect nothing.
    pub fn check_control_case(&self, lab: &SandboxRoot) -> Result<()> {
        let store = HostileStore::trusted("control", "control", |sandbox| {
            edited::start_loop(
                sandbox,
                &format!("touch {}", canaries_folder(sandbox).join("control").display()),
            )
        });
        let trial = self.arrange_store(lab, "control-loop", &store)?;
        let mut seen = Vec::new();
        for hook in self.hooks.iter().filter(|hook| hook.argv() == STOP_HOOK_ARGV) {
            let mut found = StoreFindings::default();
            self.run_and_judge_hook(&trial, hook, &trial.snapshot_before, &store.rules, &mut found)?;
            seen.extend(found.violations.iter().map(|(violation, ..)| *violation));
        }
        ensure!(
            seen.contains(&Violation::PromptGiven) && seen.contains(&Violation::RanCommand),
            "the torture did not detect that the user's own loop gave its prompt and ran its validator: {seen:?}"
        );
        let store = HostileStore::trusted("control", "control", |sandbox| {
            edited::arrange_run_expecting_command(
                sandbox,
                &["touch", &canaries_folder(sandbox).join("control").display().to_string()],
            )
        });
        let trial = self.arrange_store(lab, "control-run", &store)?;
        let mut found = StoreFindings::default();
        for argv in [["gate", "run"].as_slice(), &["install", "droid", "--user"]] {
            let line = CommandLine { argv, kind: StoreCommandKind::Plain, stdin: "", in_harness: false };
            self.run_and_judge_command(&trial, &line, &mut found)?;
        }
        let seen: Vec<Violation> = found.violations.iter().map(|(violation, ..)| *violation).collect();
        ensure!(
            seen.contains(&Violation::RanCommand) && seen.contains(&Violation::WroteForbidden),
            "the torture did not detect that the user's own run launched a command or that settings were written: {seen:?}"
        );
        Ok(())
    }

    fn arrange_store<'a>(
        &self,
        lab: &SandboxRoot,
        name: &str,
        store: &'a HostileStore,
    ) -> Result<StoreTrial<'a>> {
        let mut sandbox = lab.sandbox(name)?;
        sandbox.bin.clone_from(&self.bin);
        files::create_user_files(&sandbox)?;
        (store.arrange)(&sandbox).with_context(|| format!("{}, {}", store.group, store.name))?;
        // The upstream repository is no longer needed. Without it, every snapshot is smaller.
        let upstream = sandbox.dir.join("upstream");
        if upstream.exists() {
            fs::remove_dir_all(upstream)?;
        }
        let snapshot_before = Snapshot::take(&sandbox.dir)?;
        Ok(StoreTrial { store, sandbox, snapshot_before })
    }

    /// Runs all hooks and commands in one store. A full run tries every command, and tries every hook both alone and in
    /// a session. A quick run tries a hook alone only if it affects loops. It tries all commands that start something
    /// or write settings, and a fifth of the remaining commands. That fifth differs from store to store.
    pub fn try_store(
        &self,
        lab: &SandboxRoot,
        at: usize,
        store: &HostileStore,
        depth: TortureDepth,
    ) -> Result<StoreFindings> {
        let trial = self.arrange_store(lab, &format!("store-{at}"), store)?;
        let mut found = StoreFindings::default();
        for hook in self.hooks.iter().filter(|hook| depth == TortureDepth::Full || hook.affects_loops()) {
            let after =
                self.run_and_judge_hook(&trial, hook, &trial.snapshot_before, &store.rules, &mut found)?;
            trial.snapshot_before.restore_changed_paths(&after, &trial.sandbox.dir)?;
        }
        // The hooks also run as a session, so that each hook sees the records of the previous hooks.
        for harness in harness::HARNESSES {
            let mut before = trial.snapshot_before.clone();
            for hook in self.hooks.iter().filter(|hook| hook.harness == harness.name) {
                before = self.run_and_judge_hook(&trial, hook, &before, &store.rules, &mut found)?;
            }
            trial.snapshot_before.restore_changed_paths(&before, &trial.sandbox.dir)?;
        }
        for (number, line) in self.lines.iter().enumerate() {
            let is_harmless = line.kind == StoreCommandKind::Plain && !line.is_session_run_after_command();
            if depth == TortureDepth::Quick
                && is_harmless
                && !(number + at).is_multiple_of(HARMLESS_COMMANDS_PER_TEST)
            {
                continue;
            }
            let after = self.run_and_judge_command(&trial, line, &mut found)?;
            trial.snapshot_before.restore_changed_paths(&after, &trial.sandbox.dir)?;
        }
        fs::remove_dir_all(&trial.sandbox.dir)?;
        Ok(found)
    }

    /// Runs a hook, judges it, and returns the state afterwards.
    fn run_and_judge_hook(
        &self,
        trial: &StoreTrial,
        hook: &HookSpec,
        before: &Snapshot,
        rules: &StoreRules,
        found: &mut StoreFindings,
    ) -> Result<Snapshot> {
        let argv = hook.argv();
        let sandbox = &trial.sandbox;
        let payload = hook.payload(&sandbox.dir.join("home"), &sandbox.dir.join(trial.store.cwd));
        let mut violations = Violations::new();
        let command = trial.thru_command(&argv);
        let (output, mut spent) = self.helper.measure(&command, &payload)?;
        let mut after = Snapshot::take(&sandbox.dir)?;
        let changed = before.changed_paths(&after);
        verdict::judge_hook(rules, &output, &changed, &mut violations);
        verdict::report_copied_files(before, &after, &changed, &mut violations);
        for again in 1..MAX_MEASUREMENTS_OF_SLOW_HOOK {
            if spent.ms <= hook.deadline_ms + PROCESS_START_MS {
                break;
            }
            before.restore_changed_paths(&after, &sandbox.dir)?;
            // Wait before the next try, because the machine may be less busy then.
            std::thread::sleep(Duration::from_millis(10 * again));
            spent.ms = spent.ms.min(self.helper.measure(&command, &payload)?.1.ms);
            after = Snapshot::take(&sandbox.dir)?;
        }
        if spent.ms > hook.deadline_ms + PROCESS_START_MS {
            violations.push((Violation::ExceededLimits, format!("{} took {} ms", argv.join(" "), spent.ms)));
        }
        if spent.memory_kb > self.largest_kb {
            violations
                .push((Violation::ExceededLimits, format!("{} took {} KB", argv.join(" "), spent.memory_kb)));
        }
        found.hooks += 1;
        found.slowest_ms = found.slowest_ms.max(spent.ms);
        found.largest_kb = found.largest_kb.max(spent.memory_kb);
        found.add_violations(&format!("thru {}", argv.join(" ")), violations);
        Ok(after)
    }

    /// Runs a command and, if it affects hooks, a session after it. Neither may run anything from the store.
    fn run_and_judge_command(
        &self,
        trial: &StoreTrial,
        line: &CommandLine,
        found: &mut StoreFindings,
    ) -> Result<Snapshot> {
        let sandbox = &trial.sandbox;
        let mut command = trial.thru_command(line.argv);
        if line.in_harness {
            command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", sandbox::SANDBOX_SESSION_ID);
        }
        let start = Instant::now();
        let output = sandbox::run_with_timeout(&mut command, line.stdin.as_bytes())?;
        let mut violations = Violations::new();
        if start.elapsed().as_secs() >= MAX_COMMAND_SECONDS {
            violations.push((Violation::Crashed, format!("it took more than {MAX_COMMAND_SECONDS} seconds")));
        }
        let after = Snapshot::take(&sandbox.dir)?;
        let changed = trial.snapshot_before.changed_paths(&after);
        verdict::judge_command(&trial.store.rules, line, &output, &changed, &mut violations);
        verdict::report_copied_files(&trial.snapshot_before, &after, &changed, &mut violations);
        found.commands += 1;
        let what =
            format!("thru {}{}", line.argv.join(" "), if line.in_harness { " (by an agent)" } else { "" });
        found.add_violations(&what, violations);
        if !output.status.success() || changed.is_empty() || !line.is_session_run_after_command() {
            return Ok(after);
        }
        let mut later = StoreFindings::default();
        let rules = trial.rules_after(line, &after);
        let mut now = after;
        for hook in self.hooks.iter().filter(|hook| hook.affects_loops()) {
            now = self.run_and_judge_hook(trial, hook, &now, &rules, &mut later)?;
        }
        found.hooks += later.hooks;
        let counts = |violation: &Violation| {
            line.kind != StoreCommandKind::StartsLoop || *violation != Violation::PromptGiven
        };
        let later = later.violations.into_iter().filter(|(violation, ..)| counts(violation));
        found
            .violations
            .extend(later.map(|(violation, text, hook)| (violation, text, format!("{what}, then {hook}"))));
        Ok(now)
    }
}

impl StoreTrial<'_> {
    fn thru_command(&self, argv: &[&str]) -> Command {
        let cwd = self.sandbox.dir.join(self.store.cwd);
        let mut command = self.sandbox.thru_command(argv);
        command.current_dir(&cwd);
        if argv.first() == Some(&"hook") {
            command.env("CLAUDE_PROJECT_DIR", &cwd).env("FACTORY_PROJECT_DIR", &cwd);
        }
        if let Some((name, value)) = self.store.variable {
            command.env(name, value.replace('@', &self.sandbox.dir.display().to_string()));
        }
        match self.store.user {
            TestUser::CurrentUser | TestUser::Root => command,
            user => {
                let mut setpriv = Command::new("setpriv");
                setpriv.args(["--reuid", user.id(), "--regid", user.id(), "--clear-groups"]);
                sandbox::wrap_command(setpriv, &command)
            }
        }
    }

    /// Returns the rules that apply after a command. If the command created the store or trusted it, the store is the
    /// user's own.
    fn rules_after(&self, line: &CommandLine, after: &Snapshot) -> StoreRules {
        let marker = Path::new(self.store.cwd).join(".agent/context/root.json");
        let is_new =
            self.snapshot_before.file_bytes(&marker).is_none() && after.file_bytes(&marker).is_some();
        let is_trusted = self.store.rules.is_trusted || is_new || line.argv == ["trust"];
        StoreRules { is_trusted, ..self.store.rules.clone() }
    }
}
