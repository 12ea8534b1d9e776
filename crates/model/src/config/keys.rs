//! Every setting there is, with what it may be and what it does.

/// A setting: what it may be, what it is by default, what it does.
#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    /// The variable that overrides it. Spelled out, because every hook asks for each of them.
    pub variable: &'static str,
    pub shape: Shape,
    pub about: &'static str,
}

#[derive(Debug)]
pub enum Shape {
    Flag(bool),
    Number {
        default: i64,
        min: i64,
        max: i64,
    },
    Choice {
        default: &'static str,
        allowed: &'static [&'static str],
    },
    /// A list of absolute paths. Only the user's own file can set it: neither a project nor whoever sets a variable may.
    OwnPaths,
    /// Any text; empty only where that is the default.
    Text {
        default: &'static str,
    },
}

pub const HOOKS_ENABLED: &str = "hooks.enabled";
pub const HOOKS_AUTO_INIT: &str = "hooks.auto_init";
pub const HOOKS_DEADLINE_MS: &str = "hooks.deadline_ms";
pub const HOOKS_COMPACTION_GUIDANCE: &str = "hooks.compaction_guidance";
pub const HOOKS_LOG_LIMIT_KIB: &str = "hooks.log_limit_kib";
pub const LOOPS_NO_PROGRESS_TURNS: &str = "loops.no_progress_turns";
pub const LOOPS_VALIDATOR_TIMEOUT: &str = "loops.validator_timeout";
pub const HOOKS_GATE_REMINDERS: &str = "hooks.gate_reminders";
pub const RESUME_INLINE: &str = "resume.inline";
pub const RESUME_MAX_AGE_HOURS: &str = "resume.max_age_hours";
pub const RESUME_GLOBS: &str = "resume.globs";
pub const REDACT_EMAILS: &str = "redact.emails";
pub const OUTPUT_COLOR: &str = "output.color";
pub const ROLES_DIR: &str = "roles.dir";
pub const ROLES_STALE_HOURS: &str = "roles.stale_hours";
pub const ROLES_ARCHITECTURE_DOC: &str = "roles.architecture_doc";
pub const GATES_JOBS: &str = "gates.jobs";
pub const GATES_TIMEOUT_S: &str = "gates.timeout_s";
pub const GATES_LIVE_STATE_FILE: &str = "gates.live_state_file";
pub const ROOTS_ALLOW: &str = "roots.allow";

/// Every setting there is. A key is added here, in [`Settings`], and where it takes effect.
pub const KEYS: &[Key] = &[
    Key {
        name: HOOKS_ENABLED,
        variable: "THROUGHLINE_HOOKS_ENABLED",
        shape: Shape::Flag(true),
        about: "false switches every hook off",
    },
    Key {
        name: HOOKS_AUTO_INIT,
        variable: "THROUGHLINE_HOOKS_AUTO_INIT",
        shape: Shape::Flag(false),
        about: "true lets a session start create the root",
    },
    Key {
        name: HOOKS_COMPACTION_GUIDANCE,
        variable: "THROUGHLINE_HOOKS_COMPACTION_GUIDANCE",
        shape: Shape::Flag(true),
        about: "tells a summariser what to keep verbatim, where one listens",
    },
    Key {
        name: HOOKS_DEADLINE_MS,
        variable: "THROUGHLINE_HOOKS_DEADLINE_MS",
        shape: Shape::Number { default: 200, min: 20, max: 5_000 },
        about: "a hook's time in ms, a quarter of it where the agent waits; a lock gets at most half",
    },
    Key {
        name: HOOKS_LOG_LIMIT_KIB,
        variable: "THROUGHLINE_HOOKS_LOG_LIMIT_KIB",
        shape: Shape::Number { default: 8_192, min: 64, max: 1_048_576 },
        about: "a log of this size in KiB is rotated",
    },
    Key {
        name: LOOPS_NO_PROGRESS_TURNS,
        variable: "THROUGHLINE_LOOPS_NO_PROGRESS_TURNS",
        shape: Shape::Number { default: 3, min: 0, max: 1_000 },
        about: "turns in a row without progress that end a loop; 0 switches it off",
    },
    Key {
        name: LOOPS_VALIDATOR_TIMEOUT,
        variable: "THROUGHLINE_LOOPS_VALIDATOR_TIMEOUT",
        shape: Shape::Number { default: 300, min: 10, max: 86_400 },
        about: "seconds for a loop's validators in all; `thru install` again tells the harness",
    },
    Key {
        name: HOOKS_GATE_REMINDERS,
        variable: "THROUGHLINE_HOOKS_GATE_REMINDERS",
        shape: Shape::Flag(true),
        about: "names the files of a manifest that are still unread when work goes on",
    },
    Key {
        name: RESUME_INLINE,
        variable: "THROUGHLINE_RESUME_INLINE",
        shape: Shape::Flag(true),
        about: "tells the text of the files to load, as far as there is room",
    },
    Key {
        name: RESUME_MAX_AGE_HOURS,
        variable: "THROUGHLINE_RESUME_MAX_AGE_HOURS",
        shape: Shape::Number { default: 72, min: 1, max: 8_760 },
        about: "a state from before a compaction that is older is not used",
    },
    Key {
        name: RESUME_GLOBS,
        variable: "THROUGHLINE_RESUME_GLOBS",
        shape: Shape::Text { default: "" },
        about: "where manifests lie besides, with commas: work/*/resume-context.md",
    },
    Key {
        name: REDACT_EMAILS,
        variable: "THROUGHLINE_REDACT_EMAILS",
        shape: Shape::Flag(false),
        about: "true redacts e-mail addresses too",
    },
    Key {
        name: OUTPUT_COLOR,
        variable: "THROUGHLINE_OUTPUT_COLOR",
        shape: Shape::Choice { default: "auto", allowed: &["auto", "always", "never"] },
        about: "colour on the terminal",
    },
    Key {
        name: ROLES_DIR,
        variable: "THROUGHLINE_ROLES_DIR",
        shape: Shape::Text { default: DEFAULT_ROLES_DIR },
        about: "where the context files of roles are, seen from the project",
    },
    Key {
        name: ROLES_STALE_HOURS,
        variable: "THROUGHLINE_ROLES_STALE_HOURS",
        shape: Shape::Number { default: 24, min: 1, max: 8_760 },
        about: "a context file that was updated longer ago is warned of",
    },
    Key {
        name: ROLES_ARCHITECTURE_DOC,
        variable: "THROUGHLINE_ROLES_ARCHITECTURE_DOC",
        shape: Shape::Text { default: DEFAULT_ARCHITECTURE_DOC },
        about: "the document that a recovering role is pointed to",
    },
    Key {
        name: GATES_JOBS,
        variable: "THROUGHLINE_GATES_JOBS",
        shape: Shape::Number { default: 4, min: 1, max: 64 },
        about: "how many outputs `thru gate run` has made side by side",
    },
    Key {
        name: GATES_TIMEOUT_S,
        variable: "THROUGHLINE_GATES_TIMEOUT_S",
        shape: Shape::Number { default: 1_800, min: 1, max: 86_400 },
        about: "seconds after which a launched command is ended",
    },
    Key {
        name: GATES_LIVE_STATE_FILE,
        variable: "THROUGHLINE_GATES_LIVE_STATE_FILE",
        shape: Shape::Text { default: "" },
        about: "a YAML file of the project whose `live.dir` is the live run",
    },
    Key {
        name: ROOTS_ALLOW,
        variable: "THROUGHLINE_ROOTS_ALLOW",
        shape: Shape::OwnPaths,
        about: "folders that may be a root though they are shared, foreign or your home; only in your own settings",
    },
];

pub const DEFAULT_ROLES_DIR: &str = ".agent/context/agents";
pub const DEFAULT_ARCHITECTURE_DOC: &str = "docs/architecture.md";
