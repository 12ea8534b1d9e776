//! All settings. To add a setting, add a row here and read its field where it takes effect.

use std::borrow::Cow;

use super::setting::{
    AcceptedValues, ColorSetting, ConstantText, FormerSettingName, OutOfBoundsPolicy, SettingFieldType,
    SettingRow, SettingScope, SettingValue,
};
use crate::profile::PROFILE_CLASSES;
use crate::score::DecayShape;

/// Generates the struct `Settings`, its constant defaults and the table of keys from one list of rows.
///
/// field: type = default => { name: …, environment_variable: …, accepted_values: …, help_text: … }
///
/// The defaults are a constant, so a hook without settings files spends no time on them.
macro_rules! settings {
    ($($(#[$about:meta])* $field:ident: $type:ty = $default:expr => { $($part:ident: $value:expr),* $(,)? })*) => {
        /// The values of all settings. Every value has been checked against its [`AcceptedValues`].
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            $($(#[$about])* pub $field: $type,)*
        }

        impl Settings {
            pub const DEFAULT: Settings = Settings { $($field: $default,)* };
        }

        pub const SETTING_ROWS: &[SettingRow] = &[$(SettingRow {
            $($part: $value,)*
            read_field: |settings| settings.$field.to_value(),
            write_field: |settings, value: &SettingValue| {
                if let Some(value) = SettingFieldType::from_value(value) {
                    settings.$field = value;
                }
            },
            ..SettingRow::ROW_DEFAULTS
        },)*];
    };
}

const ACCEPTED_WEIGHTS: AcceptedValues = AcceptedValues::Decimal { min: 0.0, max: 5.0 };
const ACCEPTED_TOKEN_RATIOS: AcceptedValues = AcceptedValues::Decimal { min: 0.05, max: 2.0 };

settings! {
    hooks_enabled: bool = true => {
        name: "hooks.enabled",
        environment_variable: "THROUGHLINE_HOOKS_ENABLED",
        accepted_values: AcceptedValues::Flag,
        help_text: "false turns every hook off",
    }
    hooks_auto_init: bool = false => {
        name: "hooks.auto_init",
        environment_variable: "THROUGHLINE_HOOKS_AUTO_INIT",
        accepted_values: AcceptedValues::Flag,
        help_text: "true creates a root at the start of a session, if there is none",
    }
    compaction_guidance: bool = true => {
        name: "hooks.compaction_guidance",
        environment_variable: "THROUGHLINE_HOOKS_COMPACTION_GUIDANCE",
        accepted_values: AcceptedValues::Flag,
        help_text: "true tells the summariser what to keep verbatim, if the harness allows it",
    }
    hooks_deadline_ms: u64 = 200 => {
        name: "hooks.deadline_ms",
        environment_variable: "THROUGHLINE_HOOKS_DEADLINE_MS",
        accepted_values: AcceptedValues::Number { min: 20, max: 5_000 },
        help_text: "time limit for a hook, in ms (a quarter of that for tool calls and compactions); at most half \
                    of it is spent waiting for any one lock",
    }
    log_limit_kib: u64 = 8_192 => {
        name: "hooks.log_limit_kib",
        environment_variable: "THROUGHLINE_HOOKS_LOG_LIMIT_KIB",
        accepted_values: AcceptedValues::Number { min: 64, max: 1_048_576 },
        help_text: "the size in KiB at which a log is rotated",
    }
    no_progress_turns: u64 = 3 => {
        name: "loops.no_progress_turns",
        environment_variable: "THROUGHLINE_LOOPS_NO_PROGRESS_TURNS",
        accepted_values: AcceptedValues::Number { min: 0, max: 1_000 },
        help_text: "a loop ends after this many turns in a row without progress; 0 turns this off",
    }
    validator_timeout: u32 = 300 => {
        name: "loops.validator_timeout",
        environment_variable: "THROUGHLINE_LOOPS_VALIDATOR_TIMEOUT",
        accepted_values: AcceptedValues::Number { min: 10, max: 86_400 },
        help_text: "total seconds that a loop's validators may take; run `thru install` again after changing this",
    }
    resume_reminders: bool = true => {
        name: "resume.reminders",
        environment_variable: "THROUGHLINE_RESUME_REMINDERS",
        accepted_values: AcceptedValues::Flag,
        help_text: "remind the agent of unread manifest files while work continues",
        former_names: &[FormerSettingName {
            name: "hooks.gate_reminders",
            environment_variable: "THROUGHLINE_HOOKS_GATE_REMINDERS",
        }],
    }
    resume_inline: bool = true => {
        name: "resume.inline",
        environment_variable: "THROUGHLINE_RESUME_INLINE",
        accepted_values: AcceptedValues::Flag,
        help_text: "include the text of the files to load, if there is room",
    }
    resume_max_age_hours: u64 = 72 => {
        name: "resume.max_age_hours",
        environment_variable: "THROUGHLINE_RESUME_MAX_AGE_HOURS",
        accepted_values: AcceptedValues::Number { min: 1, max: 8_760 },
        help_text: "ignore the state saved before a compaction if it is older than this many hours",
    }
    resume_globs: ConstantText = Cow::Borrowed("") => {
        name: "resume.globs",
        environment_variable: "THROUGHLINE_RESUME_GLOBS",
        accepted_values: AcceptedValues::OptionalText,
        help_text: "additional manifest paths, separated by commas, e.g. work/*/resume-context.md",
    }
    summaries_enabled: bool = false => {
        name: "summaries.enabled",
        environment_variable: "THROUGHLINE_SUMMARIES_ENABLED",
        accepted_values: AcceptedValues::Flag,
        help_text: "true shows the model a summary of a large tool output; `thru swarm retrieve` prints the original",
    }
    summaries_threshold_bytes: u64 = 16_384 => {
        name: "summaries.threshold_bytes",
        environment_variable: "THROUGHLINE_SUMMARIES_THRESHOLD_BYTES",
        accepted_values: AcceptedValues::Number { min: 1_024, max: 16_777_216 },
        help_text: "an output is summarised if it exceeds this size by more than a quarter",
    }
    benchmark_max_rejection_percent: u64 = 30 => {
        name: "benchmark.max_rejection_percent",
        environment_variable: "THROUGHLINE_BENCHMARK_MAX_REJECTION_PERCENT",
        accepted_values: AcceptedValues::Number { min: 0, max: 100 },
        help_text: "`swarm benchmark` fails if more than this percentage of reviews rejected the work",
    }
    benchmark_min_test_pass_percent: u64 = 80 => {
        name: "benchmark.min_test_pass_percent",
        environment_variable: "THROUGHLINE_BENCHMARK_MIN_TEST_PASS_PERCENT",
        accepted_values: AcceptedValues::Number { min: 0, max: 100 },
        help_text: "`swarm benchmark` fails if the last test passed in less than this percentage of tested tasks",
    }
    benchmark_max_tool_error_percent: u64 = 20 => {
        name: "benchmark.max_tool_error_percent",
        environment_variable: "THROUGHLINE_BENCHMARK_MAX_TOOL_ERROR_PERCENT",
        accepted_values: AcceptedValues::Number { min: 0, max: 100 },
        help_text: "`swarm benchmark` fails if more than this percentage of tool calls failed",
    }
    benchmark_max_hard_limit_hits: u64 = 1 => {
        name: "benchmark.max_hard_limit_hits",
        environment_variable: "THROUGHLINE_BENCHMARK_MAX_HARD_LIMIT_HITS",
        accepted_values: AcceptedValues::Number { min: 0, max: 1_000_000 },
        help_text: "`swarm benchmark` fails if more than this many loops ended at a limit",
    }
    swarm_domains: bool = false => {
        name: "swarm.domains",
        environment_variable: "THROUGHLINE_SWARM_DOMAINS",
        accepted_values: AcceptedValues::Flag,
        help_text: "true lets `swarm domains` name the fields of expertise that a text touches on",
    }
    redact_emails: bool = false => {
        name: "redact.emails",
        environment_variable: "THROUGHLINE_REDACT_EMAILS",
        accepted_values: AcceptedValues::Flag,
        help_text: "true also redacts e-mail addresses",
    }
    output_color: ColorSetting = ColorSetting::Auto => {
        name: "output.color",
        environment_variable: "THROUGHLINE_OUTPUT_COLOR",
        accepted_values: AcceptedValues::Choice { allowed: ColorSetting::WORDS },
        help_text: "colour on the terminal",
    }
    roles_dir: ConstantText = Cow::Borrowed(".agent/context/agents") => {
        name: "roles.dir",
        environment_variable: "THROUGHLINE_ROLES_DIR",
        accepted_values: AcceptedValues::Text,
        help_text: "the folder with the roles' context files, relative to the project",
    }
    roles_stale_hours: u64 = 24 => {
        name: "roles.stale_hours",
        environment_variable: "THROUGHLINE_ROLES_STALE_HOURS",
        accepted_values: AcceptedValues::Number { min: 1, max: 8_760 },
        help_text: "warn about a context file that was last updated more than this many hours ago",
    }
    roles_architecture_doc: ConstantText = Cow::Borrowed("docs/architecture.md") => {
        name: "roles.architecture_doc",
        environment_variable: "THROUGHLINE_ROLES_ARCHITECTURE_DOC",
        accepted_values: AcceptedValues::Text,
        help_text: "the document that a recovering role should read",
    }
    gates_jobs: usize = 4 => {
        name: "gates.jobs",
        environment_variable: "THROUGHLINE_GATES_JOBS",
        accepted_values: AcceptedValues::Number { min: 1, max: 64 },
        help_text: "how many outputs `thru gate run` produces at once",
    }
    gates_timeout_s: u64 = 1_800 => {
        name: "gates.timeout_s",
        environment_variable: "THROUGHLINE_GATES_TIMEOUT_S",
        accepted_values: AcceptedValues::Number { min: 1, max: 86_400 },
        help_text: "seconds after which a launched command is killed",
    }
    live_state_file: ConstantText = Cow::Borrowed("") => {
        name: "gates.live_state_file",
        environment_variable: "THROUGHLINE_GATES_LIVE_STATE_FILE",
        accepted_values: AcceptedValues::OptionalText,
        help_text: "a YAML file in the project whose `live.dir` names the live run",
    }
    swarm_id: ConstantText = Cow::Borrowed("default") => {
        name: "swarm.id",
        environment_variable: "THROUGHLINE_SWARM_ID",
        accepted_values: AcceptedValues::Text,
        help_text: "this project's swarm; its agents' names begin with <id>_ unless it is the default swarm",
    }
    swarm_models: ConstantText = Cow::Borrowed("") => {
        name: "swarm.models",
        environment_variable: "THROUGHLINE_SWARM_MODELS",
        accepted_values: AcceptedValues::OptionalText,
        help_text: "the agents' models, e.g. coder=opus, HARNESS:coder=openai/gpt-5; run `thru swarm install` \
                    again after changing this",
    }
    roots_allow: Vec<String> = Vec::new() => {
        name: "roots.allow",
        environment_variable: "THROUGHLINE_ROOTS_ALLOW",
        accepted_values: AcceptedValues::AbsolutePaths,
        help_text: "folders that may be roots, even your home folder and folders that are shared or owned by others; allowed only in your own settings",
        scope: SettingScope::OnlyUserFile,
    }
    brief_scoring_enabled: bool = false => {
        name: "brief.scoring.enabled",
        environment_variable: "THROUGHLINE_BRIEF_SCORING_ENABLED",
        accepted_values: AcceptedValues::Flag,
        help_text: "rank the facts of a brief by score instead of using the fixed order; see docs/scoring.md",
    }
    brief_max_candidates: usize = 100 => {
        name: "brief.scoring.max_candidates",
        accepted_values: AcceptedValues::Number { min: 10, max: 500 },
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "with scoring: at most this many facts are considered",
    }
    brief_max_tokens: usize = 4_000 => {
        name: "brief.scoring.max_tokens",
        accepted_values: AcceptedValues::Number { min: 100, max: 50_000 },
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "with scoring: the maximum length of a brief, in estimated tokens",
    }
    decay_mode: DecayShape = DecayShape::Exponential => {
        name: "brief.scoring.decision_decay.mode",
        accepted_values: AcceptedValues::Choice { allowed: DecayShape::DECAY_SHAPE_WORDS },
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "how a decision's weight decays with age: exponential or linear",
    }
    decay_half_life_hours: f64 = 24.0 => {
        name: "brief.scoring.decision_decay.half_life_hours",
        accepted_values: AcceptedValues::Decimal { min: 1.0, max: 168.0 },
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "hours after which a decision counts half as much",
    }
    ratio_prose: f64 = 0.25 => {
        name: "brief.scoring.token_ratios.prose",
        accepted_values: ACCEPTED_TOKEN_RATIOS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "tokens per character of prose",
    }
    ratio_code: f64 = 0.40 => {
        name: "brief.scoring.token_ratios.code",
        accepted_values: ACCEPTED_TOKEN_RATIOS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "tokens per character of code",
    }
    ratio_markdown: f64 = 0.30 => {
        name: "brief.scoring.token_ratios.markdown",
        accepted_values: ACCEPTED_TOKEN_RATIOS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "tokens per character of markdown",
    }
    ratio_json: f64 = 0.35 => {
        name: "brief.scoring.token_ratios.json",
        accepted_values: ACCEPTED_TOKEN_RATIOS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "tokens per character of JSON",
    }
    weight_phase: f64 = 1.0 => {
        name: "brief.scoring.weights.phase",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of the current phase of the plan",
    }
    weight_current_task: f64 = 2.0 => {
        name: "brief.scoring.weights.current_task",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of the current task",
    }
    weight_blocked_task: f64 = 1.5 => {
        name: "brief.scoring.weights.blocked_task",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of a blocked task",
    }
    weight_recent_failure: f64 = 2.5 => {
        name: "brief.scoring.weights.recent_failure",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of an open failure, failed evidence or a review that rejected the work",
    }
    weight_recent_success: f64 = 0.5 => {
        name: "brief.scoring.weights.recent_success",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of checks and evidence that passed",
    }
    weight_decision_recency: f64 = 1.5 => {
        name: "brief.scoring.weights.decision_recency",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of a decision, by its age",
    }
    weight_evidence_presence: f64 = 1.0 => {
        name: "brief.scoring.weights.evidence_presence",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of evidence, and of tasks that have evidence",
    }
    weight_dependency_proximity: f64 = 1.0 => {
        name: "brief.scoring.weights.dependency_proximity",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of a task that the current one depends on",
    }
    weight_loop: f64 = 1.0 => {
        name: "brief.scoring.weights.loop",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of the session's loop",
    }
    weight_role: f64 = 1.0 => {
        name: "brief.scoring.weights.role",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of a role's essentials",
    }
    weight_manifest: f64 = 1.0 => {
        name: "brief.scoring.weights.manifest",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of a workstream's manifest",
    }
    weight_packet: f64 = 1.0 => {
        name: "brief.scoring.weights.packet",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of packets",
    }
    weight_outputs: f64 = 1.0 => {
        name: "brief.scoring.weights.outputs",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of outputs that a gate waits for",
    }
    weight_activity: f64 = 1.0 => {
        name: "brief.scoring.weights.activity",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of other sessions' activity",
    }
    weight_risk: f64 = 1.0 => {
        name: "brief.scoring.weights.risk",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of work that could be lost",
    }
    weight_effects: f64 = 1.0 => {
        name: "brief.scoring.weights.effects",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of what was done to the outside world",
    }
    weight_state: f64 = 1.0 => {
        name: "brief.scoring.weights.state",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of the session's state",
    }
    weight_statements: f64 = 1.0 => {
        name: "brief.scoring.weights.statements",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of what was found and done",
    }
    weight_prompts: f64 = 1.0 => {
        name: "brief.scoring.weights.prompts",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of what the user asked for and said",
    }
    weight_files: f64 = 1.0 => {
        name: "brief.scoring.weights.files",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of files",
    }
    weight_commands: f64 = 1.0 => {
        name: "brief.scoring.weights.commands",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of checks, traps and other commands",
    }
    weight_problems: f64 = 1.0 => {
        name: "brief.scoring.weights.problems",
        accepted_values: ACCEPTED_WEIGHTS,
        out_of_bounds: OutOfBoundsPolicy::UseDefault,
        help_text: "weight of problems with hooks",
    }
    brief_budget_warnings: bool = true => {
        name: "brief.budget_warnings",
        environment_variable: "THROUGHLINE_BRIEF_BUDGET_WARNINGS",
        accepted_values: AcceptedValues::Flag,
        help_text: "tell the agent when its context window is 70 percent full, and again at 90 percent",
    }
    brief_model_limits: ConstantText = Cow::Borrowed("") => {
        name: "brief.model_limits",
        environment_variable: "THROUGHLINE_BRIEF_MODEL_LIMITS",
        accepted_values: AcceptedValues::TokensByModel { min: 1_000, max: 100_000_000 },
        help_text: "context windows of models in tokens, such as \"my-*\" = 200000; they override the built-in sizes",
    }
    awareness_max_chars: usize = 300 => {
        name: "swarm.awareness_max_chars",
        environment_variable: "THROUGHLINE_SWARM_AWARENESS_MAX_CHARS",
        accepted_values: AcceptedValues::Number { min: 50, max: 2_000 },
        help_text: "the maximum length of the text about other agents' recent work, in a brief or for a sub-agent",
    }
    profiles_max_chars: usize = 2_000 => {
        name: "profiles.max_chars",
        environment_variable: "THROUGHLINE_PROFILES_MAX_CHARS",
        accepted_values: AcceptedValues::Number { min: 0, max: 9_000 },
        help_text: "the maximum number of characters that a sub-agent is given when it starts; 0 gives it nothing",
    }
    profile_architect: ConstantText = Cow::Borrowed("all") => {
        name: "profiles.architect",
        accepted_values: AcceptedValues::Words { allowed: PROFILE_CLASSES },
        help_text: "what an architect is given when it starts",
    }
    profile_coder: ConstantText = Cow::Borrowed("task, files, failures") => {
        name: "profiles.coder",
        accepted_values: AcceptedValues::Words { allowed: PROFILE_CLASSES },
        help_text: "what a coder is given when it starts",
    }
    profile_reviewer: ConstantText = Cow::Borrowed("requirements, diff, decisions") => {
        name: "profiles.reviewer",
        accepted_values: AcceptedValues::Words { allowed: PROFILE_CLASSES },
        help_text: "what a reviewer is given when it starts",
    }
    profile_critic: ConstantText = Cow::Borrowed("plan") => {
        name: "profiles.critic",
        accepted_values: AcceptedValues::Words { allowed: PROFILE_CLASSES },
        help_text: "what a critic is given when it starts",
    }
    profile_test_engineer: ConstantText = Cow::Borrowed("task, tests, failures") => {
        name: "profiles.test_engineer",
        accepted_values: AcceptedValues::Words { allowed: PROFILE_CLASSES },
        help_text: "what a test engineer is given when it starts",
    }
    profile_explorer: ConstantText = Cow::Borrowed("goal, plan, decisions") => {
        name: "profiles.explorer",
        accepted_values: AcceptedValues::Words { allowed: PROFILE_CLASSES },
        help_text: "what an explorer is given when it starts",
    }
    profile_sme: ConstantText = Cow::Borrowed("goal, plan, decisions") => {
        name: "profiles.sme",
        accepted_values: AcceptedValues::Words { allowed: PROFILE_CLASSES },
        help_text: "what a subject-matter expert is given when it starts",
    }
    profile_general: ConstantText = Cow::Borrowed("goal, task, decisions") => {
        name: "profiles.general",
        accepted_values: AcceptedValues::Words { allowed: PROFILE_CLASSES },
        help_text: "what any other sub-agent is given when it starts",
    }
}
