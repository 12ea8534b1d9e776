//! All settings. To add one, add a row here and read its field where it takes effect.

use std::borrow::Cow;

use super::setting::{Color, FieldType, Key, OldName, Scope, Shape, Text, Value};

/// Generates three things from one list of rows: the struct that code reads, its constant defaults, and the table for
/// everything else.
///
///     field: type = default => { name: …, variable: …, shape: …, help: … }
///
/// The defaults are a constant, so a hook without settings files does no work for them.
macro_rules! settings {
    ($($(#[$about:meta])* $field:ident: $type:ty = $default:expr => { $($part:ident: $value:expr),* $(,)? })*) => {
        /// The values that code reads. Built only from values that passed their [`Shape`].
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Settings {
            $($(#[$about])* pub $field: $type,)*
        }

        impl Settings {
            pub const DEFAULT: Settings = Settings { $($field: $default,)* };
        }

        pub const KEYS: &[Key] = &[$(Key {
            $($part: $value,)*
            get: |settings| settings.$field.to_value(),
            set: |settings, value: &Value| {
                if let Some(value) = FieldType::from_value(value) {
                    settings.$field = value;
                }
            },
            ..Key::USUAL
        },)*];
    };
}

settings! {
    hooks_enabled: bool = true => {
        name: "hooks.enabled",
        variable: "THROUGHLINE_HOOKS_ENABLED",
        shape: Shape::Flag,
        help: "false turns every hook off",
    }
    hooks_auto_init: bool = false => {
        name: "hooks.auto_init",
        variable: "THROUGHLINE_HOOKS_AUTO_INIT",
        shape: Shape::Flag,
        help: "true lets a session start create the root",
    }
    compaction_guidance: bool = true => {
        name: "hooks.compaction_guidance",
        variable: "THROUGHLINE_HOOKS_COMPACTION_GUIDANCE",
        shape: Shape::Flag,
        help: "tells the summariser what to keep verbatim, if the harness allows it",
    }
    hooks_deadline_ms: u64 = 200 => {
        name: "hooks.deadline_ms",
        variable: "THROUGHLINE_HOOKS_DEADLINE_MS",
        shape: Shape::Number { min: 20, max: 5_000 },
        help: "a hook's time in ms, a quarter of it where the agent waits; a lock gets at most half",
    }
    log_limit_kib: u64 = 8_192 => {
        name: "hooks.log_limit_kib",
        variable: "THROUGHLINE_HOOKS_LOG_LIMIT_KIB",
        shape: Shape::Number { min: 64, max: 1_048_576 },
        help: "a log of this size in KiB is rotated",
    }
    no_progress_turns: u64 = 3 => {
        name: "loops.no_progress_turns",
        variable: "THROUGHLINE_LOOPS_NO_PROGRESS_TURNS",
        shape: Shape::Number { min: 0, max: 1_000 },
        help: "turns in a row without progress after which a loop ends; 0 turns this off",
    }
    validator_timeout: u32 = 300 => {
        name: "loops.validator_timeout",
        variable: "THROUGHLINE_LOOPS_VALIDATOR_TIMEOUT",
        shape: Shape::Number { min: 10, max: 86_400 },
        help: "seconds for all validators of a loop; run `thru install` again after a change",
    }
    resume_reminders: bool = true => {
        name: "resume.reminders",
        variable: "THROUGHLINE_RESUME_REMINDERS",
        shape: Shape::Flag,
        help: "remind the agent of unread manifest files while work continues",
        old: &[OldName {
            name: "hooks.gate_reminders",
            variable: "THROUGHLINE_HOOKS_GATE_REMINDERS",
        }],
    }
    resume_inline: bool = true => {
        name: "resume.inline",
        variable: "THROUGHLINE_RESUME_INLINE",
        shape: Shape::Flag,
        help: "include the text of the files to load, if there is room",
    }
    resume_max_age_hours: u64 = 72 => {
        name: "resume.max_age_hours",
        variable: "THROUGHLINE_RESUME_MAX_AGE_HOURS",
        shape: Shape::Number { min: 1, max: 8_760 },
        help: "a state from before a compaction that is older is not used",
    }
    resume_globs: Text = Cow::Borrowed("") => {
        name: "resume.globs",
        variable: "THROUGHLINE_RESUME_GLOBS",
        shape: Shape::OptionalText,
        help: "more places for manifests, separated by commas: work/*/resume-context.md",
    }
    summaries_enabled: bool = false => {
        name: "summaries.enabled",
        variable: "THROUGHLINE_SUMMARIES_ENABLED",
        shape: Shape::Flag,
        help: "true shows the model a summary of a large tool output; `thru swarm retrieve` prints the original",
    }
    summaries_threshold_bytes: u64 = 16_384 => {
        name: "summaries.threshold_bytes",
        variable: "THROUGHLINE_SUMMARIES_THRESHOLD_BYTES",
        shape: Shape::Number { min: 1_024, max: 16_777_216 },
        help: "an output is summarised if it is larger than this by a quarter",
    }
    redact_emails: bool = false => {
        name: "redact.emails",
        variable: "THROUGHLINE_REDACT_EMAILS",
        shape: Shape::Flag,
        help: "true redacts e-mail addresses too",
    }
    output_color: Color = Color::Auto => {
        name: "output.color",
        variable: "THROUGHLINE_OUTPUT_COLOR",
        shape: Shape::Choice { allowed: Color::WORDS },
        help: "colour on the terminal",
    }
    roles_dir: Text = Cow::Borrowed(".agent/context/agents") => {
        name: "roles.dir",
        variable: "THROUGHLINE_ROLES_DIR",
        shape: Shape::Text,
        help: "where the context files of roles are, relative to the project",
    }
    roles_stale_hours: u64 = 24 => {
        name: "roles.stale_hours",
        variable: "THROUGHLINE_ROLES_STALE_HOURS",
        shape: Shape::Number { min: 1, max: 8_760 },
        help: "warn about a context file that was updated longer ago",
    }
    roles_architecture_doc: Text = Cow::Borrowed("docs/architecture.md") => {
        name: "roles.architecture_doc",
        variable: "THROUGHLINE_ROLES_ARCHITECTURE_DOC",
        shape: Shape::Text,
        help: "the document that a recovering role should read",
    }
    gates_jobs: usize = 4 => {
        name: "gates.jobs",
        variable: "THROUGHLINE_GATES_JOBS",
        shape: Shape::Number { min: 1, max: 64 },
        help: "how many outputs `thru gate run` makes at the same time",
    }
    gates_timeout_s: u64 = 1_800 => {
        name: "gates.timeout_s",
        variable: "THROUGHLINE_GATES_TIMEOUT_S",
        shape: Shape::Number { min: 1, max: 86_400 },
        help: "seconds after which a launched command is ended",
    }
    live_state_file: Text = Cow::Borrowed("") => {
        name: "gates.live_state_file",
        variable: "THROUGHLINE_GATES_LIVE_STATE_FILE",
        shape: Shape::OptionalText,
        help: "a YAML file of the project whose `live.dir` is the live run",
    }
    roots_allow: Vec<String> = Vec::new() => {
        name: "roots.allow",
        variable: "THROUGHLINE_ROOTS_ALLOW",
        shape: Shape::AbsolutePaths,
        help: "folders that may be a root although they are shared, foreign or your home; only in your own settings",
        scope: Scope::UserFile,
    }
}
