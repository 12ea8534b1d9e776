//! Slash commands. People use them to call `thru` inside a session.

use serde::Serialize;

use crate::{Harness, OwnCommands, SlashCommands};

/// A command as a file in the harness's `commands` folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlashCommand {
    /// The name that the user types, without the slash.
    pub name: String,
    pub text: String,
}

/// The line that marks a command file as ours. It is the same in every version.
pub const COMMAND_FILE_MARK: &str = "<!-- written by thru; `thru uninstall` removes it -->";

/// A command in a form that is independent of the harness.
struct CommandTemplate {
    name: &'static str,
    description: &'static str,
    /// A hint about the arguments, which the harness shows to the user. May be empty.
    arguments: &'static str,
    /// The arguments of the `thru` commands that run before the model sees the task.
    commands_run_first: &'static [&'static str],
    /// A title for the text that the user typed. The text follows in a block of its own. It is never a part of a
    /// command line: the model would run the line as it is, and a `;`, a quote or `$(…)` in the text would change what
    /// the shell does.
    words_title: &'static str,
    /// What the model should do with the result and with the user's words. `{thru}` stands for the program, and
    /// `{harness}` for the name of the harness.
    instructions: &'static str,
}

const COMMAND_TEMPLATES: &[CommandTemplate] = &[CommandTemplate {
    name: "context",
    description: "Show what Throughline has recorded about this project: sessions, roles, files that matter",
    arguments: "[init]",
    commands_run_first: &["status", "lifecycle status", "files -n 20"],
    words_title: "The user's request about Throughline in this project",
    instructions: "\
- If the words are `init`, run `{thru} init` and tell the user which files it created or changed.
- Otherwise tell the user in a few lines what the output says, and change nothing. If there is no root yet, say that \
`{thru} init` creates one.",
}, CommandTemplate {
    name: "handoff",
    description: "Hand this work over: write a packet that anybody can pick up, in any harness",
    arguments: "<what remains to be done>",
    commands_run_first: &[],
    words_title: "The user wants a handoff packet for this session, for this purpose",
    instructions: "\
Run this once, with the purpose as one argument in single quotes. Write `'\\''` for each `'` in it. If the user gave no
purpose, use your own words:

    {thru} handoff 'PURPOSE'

It fills the packet from what was captured, and prints its id and path. Read the packet. If a section
is wrong or incomplete, replace its text from stdin; no other byte changes:

    {thru} packet set ID --section 'Next Prompt' <<'END'

Then tell the user the id, and that `/pickup ID` in a new session continues its work. Stop working on the task: the next agent continues it.",
}, CommandTemplate {
    name: "pickup",
    description: "Pick up a packet: print its prompt and what has changed since it was written",
    arguments: "[packet id or a part of it] [what to do differently]",
    commands_run_first: &[],
    words_title: "The user wants this session to continue from a packet, and typed",
    instructions: "\
Run this once, and read everything that it prints:

    {thru} pickup --for {harness} --claim ID

The ID is the first of the user's words, if that word is the id of a packet, the beginning of an id or a part of a name
(`{thru} packet list` shows them). An ID has only letters, digits, `-`, `_` and `.`. Leave ID out if there is no such word:
then the command chooses the newest active packet that no other running session has claimed, or else the newest draft. If
the draft of a crashed session is newer than all active packets, the command chooses that draft. All other words are
instructions for you. Follow them while you work, and never put them into the command line.

It claims the packet for this session and prints the prompt that an earlier session left, with every statement in it checked
against the disk just now. If the command refuses, because another session has claimed the packet or because hooks do nothing
here, tell the user the reason and what the message says to do, and stop. Otherwise tell the user in two or three lines what
the work is, its state and what has changed. Then continue the work. If a statement is no longer true, look before you rely on
it. When the work is done, run
`{thru} packet done ID` with the packet's id, so that it is not offered again.",
}, CommandTemplate {
    name: "packet",
    description: "Packets: list, show, activate, done, block, confirm, set, validate",
    arguments: "[list | show ID | done ID | …]",
    commands_run_first: &[],
    words_title: "The user's request about packets",
    instructions: "\
Run `{thru} packet` with these words, each argument quoted for the shell (without words: `{thru} packet list`), and show the
user its output unchanged.",
}, CommandTemplate {
    name: "plan",
    description: "The plan: show it; start, finish, block or add tasks; import the plan that was approved in this session",
    arguments: "[show | next | start ID | done ID | block ID WHY | add TEXT | import]",
    commands_run_first: &[],
    words_title: "The user's request about the plan of this project",
    instructions: "\
- If the words are empty or `show`, run `{thru} plan show` and show the user its output unchanged.
- `next`, `check`, `log`: run `{thru} plan` with that word, and tell the user the result.
- `start ID`, `done ID`, `block ID WHY`, `unblock ID`, `add TEXT`: run `{thru} task` with these words, each argument quoted \
for the shell. A task with an acceptance criterion needs evidence: before `done`, run its check with `{thru} evidence \
run ID -- COMMAND`. Use `--without-evidence WHY` only if nothing can be run: say what you looked at, and never give a reason that is not true.
- `import`: run `{thru} plan import --from-session`, which imports the plan that was approved in this session and your \
todo list. If a file follows, run `{thru} plan import FILE`.",
}, CommandTemplate {
    name: "decide",
    description: "Decisions: record what was settled and why; list those in force, supersede one",
    arguments: "[what was decided, and why | list | suggested | supersede ID …]",
    commands_run_first: &[],
    words_title: "The user's request about decisions of this project",
    instructions: "\
- If the words are empty or `list`, run `{thru} decisions list` and show the user its output unchanged.
- `suggested`: run `{thru} decisions list --suggested`, show it, and ask the user which of them to accept. Run \
`{thru} decisions accept ID` only for those that the user names.
- `supersede ID …`, `show ID`: run `{thru} decisions` with these words, each argument quoted for the shell.
- Otherwise the words are a decision that the user has made. Run `{thru} decide - --why 'WHY' <<'DECISION'`, then what was decided, \
in the user's words, then a line `DECISION`. Leave out `--why` if the user gave no reason: never make one up. If the \
decision contradicts one that `{thru} decisions list` shows, add `--supersedes ID`, and say so.

From now on, the decision is in force in every session of this project, including this one.",
}, CommandTemplate {
    name: "swarm",
    description: "Let a team of agents plan, build, review and test; or show its status, plan, agents and problems",
    arguments: "[what to build | status | plan | agents | list | install | diagnose]",
    commands_run_first: &[],
    words_title: "The user's request to the swarm",
    instructions: "\
- If the words are empty or begin with `status`, run `{thru} swarm status` and show the user what it prints.
- If they begin with `plan`, `agents`, `list`, `diagnose`, `retrieve`, `benchmark`, `install` or `uninstall`, run `{thru} swarm` with these \
words, each argument quoted for the shell, and show the user what it prints. Do nothing else.
- Otherwise the words are work for the swarm. Run `{thru} swarm list --for {harness}`. If no swarm is installed for this harness, tell the user that \
`{thru} swarm install --harness {harness}` installs one, and stop. Otherwise run `{thru} swarm agents architect` and \
read everything it prints: until this work is done, you are that architect. Follow its workflow from the first step, with the user's words as the request.",
}, CommandTemplate {
    name: "recover",
    description: "Continue the work of a role, from its context file",
    arguments: "[role]",
    // `thru recover` fails if there is no role. In `commands_run_first`, it would make the whole slash command fail,
    // so the model runs it instead.
    commands_run_first: &[],
    words_title: "The user wants this session to continue the work of a role, and typed",
    instructions: "\
Run `{thru} recover ROLE` and read everything it prints: the checklist and the context file of the role. ROLE is the name
of the role, quoted for the shell. Leave it out if the user named none. Then follow the checklist in order, and tell the
user in a few lines what the goal is and what comes next. The command gives this session the role; if its last lines say
that it did not, tell the user why, and which command does it. If there is no role or no context file, tell the user so,
and what the command suggests.",
}, CommandTemplate {
        name: "loop",
        description: "Repeat a prompt until the work is done; list, pause, resume or cancel loops",
        arguments: "prompt, or list | show | pause | resume | cancel | log [ID]",
        commands_run_first: &["loop list"],
        words_title: "The user's request about loops",
        instructions: LOOP_TEMPLATE,
    }];

/// The instructions of the loop command. The model passes the user's text to `thru` through stdin, so no shell
/// interprets it.
const LOOP_TEMPLATE: &str = "\
- If the words are empty or `list`, summarise the list above for the user in a few lines, and do nothing else.
- If they begin with `show`, `log`, `pause`, `resume`, `cancel` or `activate`, run `{thru} loop` with exactly these \
words, each argument quoted for the shell, and tell the user the result, with every line that begins with `note:`. Do nothing else.
- Otherwise the words are a prompt to work on until it is done. Pass on unchanged any options in them (`--promise TEXT`, `--blocked-promise TEXT`, \
`--max-iterations N`, `--for 2h`, `--validator CMD`, `--from-packet ID`), each value quoted for the shell. Run \
`{thru} loop start --file - OPTIONS <<'PROMPT'`, then the prompt verbatim, then a line `PROMPT` (with `--from-packet`, \
leave out `--file` and the prompt). If there is no `--promise`, choose a short one that says when the work is done, \
such as \
`ALL TESTS PASS`. Never add a validator, a limit or a time that the user did not ask for. If the command prints lines that begin with \
`note:`, tell the user what they say, because the user does not see that output. Then work on the prompt. When \
you stop, you get the prompt again, until your last message contains the promise in the form that the command printed. \
Give the promise only if it is true.";

/// A command that a plugin adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PluginCommand {
    pub name: String,
    pub description: &'static str,
    pub template: String,
    /// The arguments of the `thru` commands that run first. Their output is shown above the template.
    #[serde(rename = "runs")]
    pub commands_run_first: Vec<Vec<&'static str>>,
}

/// Lists the commands that a harness's plugin adds. The list is empty if the harness reads commands from files.
pub fn plugin_commands(harness: &Harness, program: &str) -> Vec<PluginCommand> {
    let SlashCommands::InPlugin { .. } = harness.commands else { return Vec::new() };
    COMMAND_TEMPLATES
        .iter()
        .map(|template| PluginCommand {
            name: command_name_in_harness(harness, template.name),
            description: template.description,
            template: command_prompt(harness, program, template),
            commands_run_first: template
                .commands_run_first
                .iter()
                .map(|run| run.split(' ').collect())
                .collect(),
        })
        .collect()
}

/// Lists the command files for one harness. The list is empty if a plugin adds the commands. If the harness has its own
/// command with the same name, our command gets the prefix `thru-`.
pub fn command_files(harness: &Harness, program: &str) -> Vec<SlashCommand> {
    let SlashCommands::MarkdownFiles { runs_shell_lines, .. } = harness.commands else { return Vec::new() };
    COMMAND_TEMPLATES
        .iter()
        .map(|template| SlashCommand {
            name: command_name_in_harness(harness, template.name),
            text: command_file_text(harness, program, template, runs_shell_lines),
        })
        .collect()
}

pub fn command_name_in_harness(harness: &Harness, name: &str) -> String {
    if is_name_taken(harness, name) { format!("thru-{name}") } else { name.to_owned() }
}

fn command_prompt(harness: &Harness, program: &str, template: &CommandTemplate) -> String {
    let instructions = template.instructions.replace("{thru}", program).replace("{harness}", harness.name);
    format!("{}:\n\n<words>\n$ARGUMENTS\n</words>\n\n{instructions}", template.words_title)
}

/// Lists our command names that the harness already uses for its own commands. In that harness, our commands have other
/// names.
pub fn command_names_taken_by_harness(harness: &Harness) -> Vec<&'static str> {
    COMMAND_TEMPLATES
        .iter()
        .map(|template| template.name)
        .filter(|name| is_name_taken(harness, name))
        .collect()
}

fn is_name_taken(harness: &Harness, name: &str) -> bool {
    own_commands(harness).names.contains(&name)
}

/// Returns the slash commands that the harness has itself.
pub fn own_commands(harness: &Harness) -> OwnCommands {
    let (SlashCommands::MarkdownFiles { own_commands, .. } | SlashCommands::InPlugin { own_commands }) =
        harness.commands;
    own_commands
}

pub fn is_our_command_file(text: &str) -> bool {
    text.contains(COMMAND_FILE_MARK)
}

fn command_file_text(
    harness: &Harness,
    program: &str,
    template: &CommandTemplate,
    runs_lines: bool,
) -> String {
    let CommandTemplate { description, arguments, commands_run_first, .. } = template;
    let (allowed, lines) = match runs_lines {
        // The harness runs a line that begins with `!` only if `allowed-tools` permits its command, so both are
        // written.
        true => {
            let lines: Vec<String> =
                commands_run_first.iter().map(|run| format!("!`{program} {run}`\n")).collect();
            (format!("allowed-tools: Bash({program}:*)\n"), lines.join("\n"))
        }
        false if commands_run_first.is_empty() => (String::new(), String::new()),
        false => {
            let lines: Vec<String> =
                commands_run_first.iter().map(|run| format!("- `{program} {run}`\n")).collect();
            (String::new(), format!("Run these, and show what they print:\n\n{}", lines.join("")))
        }
    };
    let hint = if arguments.is_empty() { String::new() } else { format!("argument-hint: \"{arguments}\"\n") };
    let gap = if lines.is_empty() { "" } else { "\n" };
    let task = command_prompt(harness, program, template);
    format!(
        "---\ndescription: \"{description}\"\n{hint}{allowed}---\n{lines}{gap}{task}\n\n{COMMAND_FILE_MARK}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness_by_name;

    #[test]
    fn a_name_that_is_taken_is_not_hidden() {
        let names = |harness: &str| -> Vec<String> {
            command_files(harness_by_name(harness).unwrap(), "/bin/thru")
                .into_iter()
                .map(|command| command.name)
                .collect()
        };
        assert_eq!(
            names("claude-code"),
            [
                "thru-context",
                "handoff",
                "pickup",
                "packet",
                "thru-plan",
                "decide",
                "swarm",
                "recover",
                "thru-loop"
            ]
        );
        assert_eq!(
            names("droid"),
            [
                "thru-context",
                "thru-handoff",
                "pickup",
                "packet",
                "plan",
                "decide",
                "swarm",
                "recover",
                "thru-loop"
            ]
        );
    }

    #[test]
    fn no_name_of_ours_is_one_of_the_harness() {
        let script = include_str!("../../../scripts/harnesses.sh");
        for harness in crate::HARNESSES {
            let own = own_commands(harness);
            // The lists are those of the versions that the end-to-end tests install.
            assert!(script.contains(&format!("_VERSION={}\n", own.version)), "{}", harness.name);
            assert!(own.names.is_sorted() && own.names.len() > 40, "{}", harness.name);
            let files = command_files(harness, "/bin/thru").into_iter().map(|file| file.name);
            let added = plugin_commands(harness, "/bin/thru").into_iter().map(|command| command.name);
            for name in files.chain(added) {
                assert!(!own.names.contains(&&*name), "{}: /{name}", harness.name);
            }
        }
    }

    #[test]
    fn the_context_command_can_make_a_folder_a_root() {
        let harness = harness_by_name("claude-code").unwrap();
        let files = command_files(harness, "/bin/thru");
        let context = files.iter().find(|file| file.name == "thru-context").unwrap();
        assert!(context.text.contains("argument-hint: \"[init]\"\n"), "{}", context.text);
        assert!(context.text.contains("allowed-tools: Bash(/bin/thru:*)\n"), "{}", context.text);
        assert!(context.text.contains("If the words are `init`, run `/bin/thru init`"), "{}", context.text);
    }

    #[test]
    fn the_loop_command_passes_notes_on_to_the_user() {
        for harness in crate::HARNESSES {
            let files = command_files(harness, "/bin/thru").into_iter().map(|file| (file.name, file.text));
            let added = plugin_commands(harness, "/bin/thru").into_iter().map(|new| (new.name, new.template));
            let (_, text) = files.chain(added).find(|(name, _)| name.ends_with("loop")).unwrap();
            let parts = text.split("\n- ").filter(|part| part.contains("`note:`"));
            assert_eq!(parts.count(), 2, "at a start, and at a resume: {text}");
        }
    }

    #[test]
    fn a_plugin_adds_the_same_commands_and_no_file_is_written_for_them() {
        let harness = harness_by_name("opencode").unwrap();
        assert_eq!(command_files(harness, "/bin/thru"), []);
        let commands = plugin_commands(harness, "/bin/thru");
        assert_eq!(commands.len(), COMMAND_TEMPLATES.len());
        let names: Vec<&str> = commands.iter().map(|command| &*command.name).collect();
        let expected =
            ["context", "handoff", "pickup", "packet", "plan", "decide", "swarm", "recover", "loop"];
        assert_eq!(names, expected);
        let context = commands.iter().find(|command| command.name == "context").unwrap();
        assert_eq!(context.commands_run_first[0], ["status"]);
        let pickup = commands.iter().find(|command| command.name == "pickup").unwrap();
        assert!(pickup.template.contains("/bin/thru pickup --for opencode --claim ID\n"));
        assert_eq!(plugin_commands(harness_by_name("droid").unwrap(), "/bin/thru"), []);
    }

    #[test]
    fn what_the_user_types_is_never_part_of_a_command_line() {
        for harness in crate::HARNESSES {
            let files = command_files(harness, "/bin/thru").into_iter().map(|file| file.text);
            let added = plugin_commands(harness, "/bin/thru").into_iter().map(|command| command.template);
            let texts: Vec<String> = files.chain(added).collect();
            assert_eq!(texts.len(), COMMAND_TEMPLATES.len(), "{}", harness.name);
            for text in texts {
                let (before, after) = text.split_once("$ARGUMENTS").unwrap_or_else(|| panic!("{text}"));
                assert!(before.ends_with("\n<words>\n") && after.starts_with("\n</words>\n"), "{text}");
                // Harnesses also replace `$1`, and some of them also replace `$0`.
                assert!(!before.contains('$') && !after.contains('$'), "{text}");
            }
        }
    }

    #[test]
    fn our_command_files_are_recognised() {
        let command = &command_files(harness_by_name("claude-code").unwrap(), "/bin/thru")[0];
        assert!(is_our_command_file(&command.text) && command.text.contains("!`/bin/thru status`"));
        assert!(!is_our_command_file("---\ndescription: mine\n---\n"));
    }
}
