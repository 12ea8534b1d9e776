//! All settings. To add a setting, add a row here and read its field where it takes effect.

use std::borrow::Cow;

use super::setting::{
    Color, ConstantText, FieldType, Key, OldName, OutOfBounds, SettingScope, Value, ValueShape,
};
use crate::profile::PROFILE_CLASSES;
use crate::score::DecayShape;

/// Generates the struct `Settings`, its constant defaults and the table of keys from one list of rows.
///
/// field: type = default => { name: …, variable: …, shape: …, help: … }
///
/// The defaults are a constant, so a hook without settings files spends no time on them.
macro_rules! settings {
    ($($(#[$about:meta])* $field:ident: $type:ty = $default:expr => { $($part:ident: $value:expr),* $(,)? })*) => {
        /// The values of all settings. Every value has been checked against its [`ValueShape`].
        #[derive(Clone, Debug, PartialEq)]
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
            ..Key::ROW_DEFAULTS
        },)*];
    };
}

const WEIGHT_SHAPE: ValueShape = ValueShape::Decimal { min: 0.0, max: 5.0 };
const RATIO_SHAPE: ValueShape = ValueShape::Decimal { min: 0.05, max: 2.0 };

settings! {
    hooks_enabled: bool = true => {
        name: "hooks.enabled",
        variable: "THROUGHLINE_HOOKS_ENABLED",
        shape: ValueShape::Flag,
        help: "false turns every hook off",
    }
    hooks_auto_init: bool = false => {
        name: "hooks.auto_init",
        variable: "THROUGHLINE_HOOKS_AUTO_INIT",
        shape: ValueShape::Flag,
        help: "true creates a root at the start of a session, if there is none",
    }
    compaction_guidance: bool = true => {
        name: "hooks.compaction_guidance",
        variable: "THROUGHLINE_HOOKS_COMPACTION_GUIDANCE",
        shape: ValueShape::Flag,
        help: "tells the summariser what to keep verbatim, if the harness allows it",
    }
    hooks_deadline_ms: u64 = 200 => {
        name: "hooks.deadline_ms",
        variable: "THROUGHLINE_HOOKS_DEADLINE_MS",
        shape: ValueShape::Number { min: 20, max: 5_000 },
        help: "time limit of a hook in ms; a quarter of it for tool calls and compactions; at most half of it for one lock",
    }
    log_limit_kib: u64 = 8_192 => {
        name: "hooks.log_limit_kib",
        variable: "THROUGHLINE_HOOKS_LOG_LIMIT_KIB",
        shape: ValueShape::Number { min: 64, max: 1_048_576 },
        help: "the size in KiB at which a log is rotated",
    }
    no_progress_turns: u64 = 3 => {
        name: "loops.no_progress_turns",
        variable: "THROUGHLINE_LOOPS_NO_PROGRESS_TURNS",
        shape: ValueShape::Number { min: 0, max: 1_000 },
        help: "a loop ends after this many turns in a row without progress; 0 turns this off",
    }
    validator_timeout: u32 = 300 => {
        name: "loops.validator_timeout",
        variable: "THROUGHLINE_LOOPS_VALIDATOR_TIMEOUT",
        shape: ValueShape::Number { min: 10, max: 86_400 },
        help: "seconds that all validators of a loop may take together; run `thru install` again after a change",
    }
    resume_reminders: bool = true => {
        name: "resume.reminders",
        variable: "THROUGHLINE_RESUME_REMINDERS",
        shape: ValueShape::Flag,
        help: "remind the agent of unread manifest files while work continues",
        old: &[OldName {
            name: "hooks.gate_reminders",
            variable: "THROUGHLINE_HOOKS_GATE_REMINDERS",
        }],
    }
    resume_inline: bool = true => {
        name: "resume.inline",
        variable: "THROUGHLINE_RESUME_INLINE",
        shape: ValueShape::Flag,
        help: "include the text of the files to load, if there is room",
    }
    resume_max_age_hours: u64 = 72 => {
        name: "resume.max_age_hours",
        variable: "THROUGHLINE_RESUME_MAX_AGE_HOURS",
        shape: ValueShape::Number { min: 1, max: 8_760 },
        help: "ignore the state saved before a compaction if it is older than this many hours",
    }
    resume_globs: ConstantText = Cow::Borrowed("") => {
        name: "resume.globs",
        variable: "THROUGHLINE_RESUME_GLOBS",
        shape: ValueShape::OptionalText,
        help: "additional paths of manifests, separated by commas: work/*/resume-context.md",
    }
    summaries_enabled: bool = false => {
        name: "summaries.enabled",
        variable: "THROUGHLINE_SUMMARIES_ENABLED",
        shape: ValueShape::Flag,
        help: "true shows the model a summary of a large tool output; `thru swarm retrieve` prints the original",
    }
    summaries_threshold_bytes: u64 = 16_384 => {
        name: "summaries.threshold_bytes",
        variable: "THROUGHLINE_SUMMARIES_THRESHOLD_BYTES",
        shape: ValueShape::Number { min: 1_024, max: 16_777_216 },
        help: "an output is summarised if it exceeds this size by more than a quarter",
    }
    benchmark_max_rejection_percent: u64 = 30 => {
        name: "benchmark.max_rejection_percent",
        variable: "THROUGHLINE_BENCHMARK_MAX_REJECTION_PERCENT",
        shape: ValueShape::Number { min: 0, max: 100 },
        help: "`swarm benchmark` fails if more than this percentage of reviews rejected the work",
    }
    benchmark_min_test_pass_percent: u64 = 80 => {
        name: "benchmark.min_test_pass_percent",
        variable: "THROUGHLINE_BENCHMARK_MIN_TEST_PASS_PERCENT",
        shape: ValueShape::Number { min: 0, max: 100 },
        help: "`swarm benchmark` fails if the last test passed in less than this percentage of tested tasks",
    }
    benchmark_max_tool_error_percent: u64 = 20 => {
        name: "benchmark.max_tool_error_percent",
        variable: "THROUGHLINE_BENCHMARK_MAX_TOOL_ERROR_PERCENT",
        shape: ValueShape::Number { min: 0, max: 100 },
        help: "`swarm benchmark` fails if more than this percentage of tool calls failed",
    }
    benchmark_max_hard_limit_hits: u64 = 1 => {
        name: "benchmark.max_hard_limit_hits",
        variable: "THROUGHLINE_BENCHMARK_MAX_HARD_LIMIT_HITS",
        shape: ValueShape::Number { min: 0, max: 1_000_000 },
        help: "`swarm benchmark` fails if more loops than this ended at a limit",
    }
    swarm_domains: bool = false => {
        name: "swarm.domains",
        variable: "THROUGHLINE_SWARM_DOMAINS",
        shape: ValueShape::Flag,
        help: "true lets `swarm domains` name the fields of expertise that a text touches",
    }
    redact_emails: bool = false => {
        name: "redact.emails",
        variable: "THROUGHLINE_REDACT_EMAILS",
        shape: ValueShape::Flag,
        help: "true also redacts e-mail addresses",
    }
    output_color: Color = Color::Auto => {
        name: "output.color",
        variable: "THROUGHLINE_OUTPUT_COLOR",
        shape: ValueShape::Choice { allowed: Color::WORDS },
        help: "colour on the terminal",
    }
    roles_dir: ConstantText = Cow::Borrowed(".agent/context/agents") => {
        name: "roles.dir",
        variable: "THROUGHLINE_ROLES_DIR",
        shape: ValueShape::Text,
        help: "where the context files of roles are, relative to the project",
    }
    roles_stale_hours: u64 = 24 => {
        name: "roles.stale_hours",
        variable: "THROUGHLINE_ROLES_STALE_HOURS",
        shape: ValueShape::Number { min: 1, max: 8_760 },
        help: "warn about a context file that was last updated more than this many hours ago",
    }
    roles_architecture_doc: ConstantText = Cow::Borrowed("docs/architecture.md") => {
        name: "roles.architecture_doc",
        variable: "THROUGHLINE_ROLES_ARCHITECTURE_DOC",
        shape: ValueShape::Text,
        help: "the document that a recovering role should read",
    }
    gates_jobs: usize = 4 => {
        name: "gates.jobs",
        variable: "THROUGHLINE_GATES_JOBS",
        shape: ValueShape::Number { min: 1, max: 64 },
        help: "how many outputs `thru gate run` produces at the same time",
    }
    gates_timeout_s: u64 = 1_800 => {
        name: "gates.timeout_s",
        variable: "THROUGHLINE_GATES_TIMEOUT_S",
        shape: ValueShape::Number { min: 1, max: 86_400 },
        help: "seconds after which a launched command is killed",
    }
    live_state_file: ConstantText = Cow::Borrowed("") => {
        name: "gates.live_state_file",
        variable: "THROUGHLINE_GATES_LIVE_STATE_FILE",
        shape: ValueShape::OptionalText,
        help: "a YAML file of the project whose `live.dir` names the live run",
    }
    swarm_id: ConstantText = Cow::Borrowed("default") => {
        name: "swarm.id",
        variable: "THROUGHLINE_SWARM_ID",
        shape: ValueShape::Text,
        help: "the swarm of this project; its agents have the prefix <id>_ unless it is the default one",
    }
    swarm_models: ConstantText = Cow::Borrowed("") => {
        name: "swarm.models",
        variable: "THROUGHLINE_SWARM_MODELS",
        shape: ValueShape::OptionalText,
        help: "models of agents: coder=opus, HARNESS:coder=openai/gpt-5; run `thru swarm install` again after a change",
    }
    roots_allow: Vec<String> = Vec::new() => {
        name: "roots.allow",
        variable: "THROUGHLINE_ROOTS_ALLOW",
        shape: ValueShape::AbsolutePaths,
        help: "folders that may be a root although they are shared, foreign or your home; only in your own settings",
        scope: SettingScope::OnlyUserFile,
    }
    brief_scoring_enabled: bool = false => {
        name: "brief.scoring.enabled",
        variable: "THROUGHLINE_BRIEF_SCORING_ENABLED",
        shape: ValueShape::Flag,
        help: "rank the facts of a brief by score instead of in the fixed order; see docs/scoring.md",
    }
    brief_max_candidates: usize = 100 => {
        name: "brief.scoring.max_candidates",
        shape: ValueShape::Number { min: 10, max: 500 },
        outside: OutOfBounds::UseDefault,
        help: "with scoring: at most this many facts are considered",
    }
    brief_max_tokens: usize = 4_000 => {
        name: "brief.scoring.max_tokens",
        shape: ValueShape::Number { min: 100, max: 50_000 },
        outside: OutOfBounds::UseDefault,
        help: "with scoring: the maximum length of a brief, in estimated tokens",
    }
    decay_mode: DecayShape = DecayShape::Exponential => {
        name: "brief.scoring.decision_decay.mode",
        shape: ValueShape::Choice { allowed: DecayShape::WORDS },
        outside: OutOfBounds::UseDefault,
        help: "how a decision's weight falls with its age: exponential or linear",
    }
    decay_half_life_hours: f64 = 24.0 => {
        name: "brief.scoring.decision_decay.half_life_hours",
        shape: ValueShape::Decimal { min: 1.0, max: 168.0 },
        outside: OutOfBounds::UseDefault,
        help: "hours after which a decision counts half as much",
    }
    ratio_prose: f64 = 0.25 => {
        name: "brief.scoring.token_ratios.prose",
        shape: RATIO_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "tokens per character of prose",
    }
    ratio_code: f64 = 0.40 => {
        name: "brief.scoring.token_ratios.code",
        shape: RATIO_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "tokens per character of code",
    }
    ratio_markdown: f64 = 0.30 => {
        name: "brief.scoring.token_ratios.markdown",
        shape: RATIO_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "tokens per character of markdown",
    }
    ratio_json: f64 = 0.35 => {
        name: "brief.scoring.token_ratios.json",
        shape: RATIO_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "tokens per character of JSON",
    }
    weight_phase: f64 = 1.0 => {
        name: "brief.scoring.weights.phase",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of the current phase of the plan",
    }
    weight_current_task: f64 = 2.0 => {
        name: "brief.scoring.weights.current_task",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of the current task",
    }
    weight_blocked_task: f64 = 1.5 => {
        name: "brief.scoring.weights.blocked_task",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of a blocked task",
    }
    weight_recent_failure: f64 = 2.5 => {
        name: "brief.scoring.weights.recent_failure",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of an open failure, failed evidence or a rejecting review",
    }
    weight_recent_success: f64 = 0.5 => {
        name: "brief.scoring.weights.recent_success",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of a check or evidence that passed",
    }
    weight_decision_recency: f64 = 1.5 => {
        name: "brief.scoring.weights.decision_recency",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of a decision, by its age",
    }
    weight_evidence_presence: f64 = 1.0 => {
        name: "brief.scoring.weights.evidence_presence",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of evidence, and of tasks that have evidence",
    }
    weight_dependency_proximity: f64 = 1.0 => {
        name: "brief.scoring.weights.dependency_proximity",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of a task that the current one depends on",
    }
    weight_loop: f64 = 1.0 => {
        name: "brief.scoring.weights.loop",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of the loop of the session",
    }
    weight_role: f64 = 1.0 => {
        name: "brief.scoring.weights.role",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of the essentials of a role",
    }
    weight_manifest: f64 = 1.0 => {
        name: "brief.scoring.weights.manifest",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of the manifest of a workstream",
    }
    weight_packet: f64 = 1.0 => {
        name: "brief.scoring.weights.packet",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of packets",
    }
    weight_outputs: f64 = 1.0 => {
        name: "brief.scoring.weights.outputs",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of outputs that a gate waits for",
    }
    weight_activity: f64 = 1.0 => {
        name: "brief.scoring.weights.activity",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of what other sessions do",
    }
    weight_risk: f64 = 1.0 => {
        name: "brief.scoring.weights.risk",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of work that could be lost",
    }
    weight_effects: f64 = 1.0 => {
        name: "brief.scoring.weights.effects",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of what was done to the outside world",
    }
    weight_state: f64 = 1.0 => {
        name: "brief.scoring.weights.state",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of the state of the session",
    }
    weight_statements: f64 = 1.0 => {
        name: "brief.scoring.weights.statements",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of what was found and done",
    }
    weight_prompts: f64 = 1.0 => {
        name: "brief.scoring.weights.prompts",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of what the user asked and said",
    }
    weight_files: f64 = 1.0 => {
        name: "brief.scoring.weights.files",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of files",
    }
    weight_commands: f64 = 1.0 => {
        name: "brief.scoring.weights.commands",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of checks, traps and other commands",
    }
    weight_problems: f64 = 1.0 => {
        name: "brief.scoring.weights.problems",
        shape: WEIGHT_SHAPE,
        outside: OutOfBounds::UseDefault,
        help: "weight of problems with hooks",
    }
    brief_budget_warnings: bool = true => {
        name: "brief.budget_warnings",
        variable: "THROUGHLINE_BRIEF_BUDGET_WARNINGS",
        shape: ValueShape::Flag,
        help: "tell the agent when its context window is 70 percent full, and again at 90 percent",
    }
    brief_model_limits: ConstantText = Cow::Borrowed("") => {
        name: "brief.model_limits",
        variable: "THROUGHLINE_BRIEF_MODEL_LIMITS",
        shape: ValueShape::TokensByModel { min: 1_000, max: 100_000_000 },
        help: "context windows of models in tokens; they override the built-in sizes: \"my-*\" = 200000",
    }
    awareness_max_chars: usize = 300 => {
        name: "swarm.awareness_max_chars",
        variable: "THROUGHLINE_SWARM_AWARENESS_MAX_CHARS",
        shape: ValueShape::Number { min: 50, max: 2_000 },
        help: "the maximum number of characters about other agents' recent work, in a brief and for a sub-agent",
    }
    profiles_max_chars: usize = 2_000 => {
        name: "profiles.max_chars",
        variable: "THROUGHLINE_PROFILES_MAX_CHARS",
        shape: ValueShape::Number { min: 0, max: 9_000 },
        help: "the maximum number of characters that a sub-agent is given when it starts; 0 gives it nothing",
    }
    profile_architect: ConstantText = Cow::Borrowed("all") => {
        name: "profiles.architect",
        shape: ValueShape::Words { allowed: PROFILE_CLASSES },
        help: "what an architect is given when it starts",
    }
    profile_coder: ConstantText = Cow::Borrowed("task, files, failures") => {
        name: "profiles.coder",
        shape: ValueShape::Words { allowed: PROFILE_CLASSES },
        help: "what a coder is given when it starts",
    }
    profile_reviewer: ConstantText = Cow::Borrowed("requirements, diff, decisions") => {
        name: "profiles.reviewer",
        shape: ValueShape::Words { allowed: PROFILE_CLASSES },
        help: "what a reviewer is given when it starts",
    }
    profile_critic: ConstantText = Cow::Borrowed("plan") => {
        name: "profiles.critic",
        shape: ValueShape::Words { allowed: PROFILE_CLASSES },
        help: "what a critic is given when it starts",
    }
    profile_test_engineer: ConstantText = Cow::Borrowed("task, tests, failures") => {
        name: "profiles.test_engineer",
        shape: ValueShape::Words { allowed: PROFILE_CLASSES },
        help: "what a test engineer is given when it starts",
    }
    profile_explorer: ConstantText = Cow::Borrowed("goal, plan, decisions") => {
        name: "profiles.explorer",
        shape: ValueShape::Words { allowed: PROFILE_CLASSES },
        help: "what an explorer is given when it starts",
    }
    profile_sme: ConstantText = Cow::Borrowed("goal, plan, decisions") => {
        name: "profiles.sme",
        shape: ValueShape::Words { allowed: PROFILE_CLASSES },
        help: "what a subject matter expert is given when it starts",
    }
    profile_general: ConstantText = Cow::Borrowed("goal, task, decisions") => {
        name: "profiles.general",
        shape: ValueShape::Words { allowed: PROFILE_CLASSES },
        help: "what any other sub-agent is given when it starts",
    }
}
