mod adopt;
mod change;
mod list;
mod log;
mod show;
mod start;

use clap::Subcommand;
use model::time;
use ops::features::loops::{self, ResumeOptions, WantedLoopOwner};
use ops::{Result, World};

use self::change::print_changed_loop;
use crate::output::OutputFormat;

/// Give an agent the same prompt again and again until it promises that the work is done
///
/// A loop belongs to one session. Each time the agent of that session would stop, it gets the prompt again, until its
/// last message contains <promise>TEXT</promise> outside code and the validators pass, or until a limit is reached.
/// Other sessions and sub-agents are never affected. Without an ID, commands use the loop in the foreground. The
/// beginning of an ID, or a part of the loop's name, is enough.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Start(start::Args),
    /// List the loops in this project; ▶ marks loops in the foreground, ▷ marks loops that are waiting for a session
    #[command(visible_alias = "status")]
    List,
    /// Show a loop: its state and its prompt
    Show {
        /// The loop: its id, the beginning of its id, or a part of its name [default: the loop in the foreground]
        id: Option<String>,
    },
    /// Put a loop into the foreground of a session; the previous loop then waits
    Activate {
        /// The loop: its id, the beginning of its id, or a part of its name
        id: String,
        #[command(flatten)]
        owner: OwnerArgs,
    },
    /// Allow a loop that came from elsewhere, after showing its prompt and its commands
    ///
    /// A loop runs only if you started it on this machine. You must adopt a loop that came with a clone or a pull,
    /// that somebody changed, or that an older version of thru created. Until then, it does nothing. Needs a
    /// terminal; refuses to run inside a harness.
    Adopt {
        /// The loop: its id, the beginning of its id, or a part of its name
        id: String,
    },
    /// Pause a loop; `resume` continues it
    Pause {
        /// The loop: its id, the beginning of its id, or a part of its name [default: the loop in the foreground]
        id: Option<String>,
    },
    /// Continue a loop that was paused or that reached a limit
    Resume {
        /// The loop: its id, the beginning of its id, or a part of its name [default: the paused loop]
        id: Option<String>,
        /// Set a new limit, counted from the loop's start; 0 means no limit
        #[arg(long, value_name = "N")]
        max_iterations: Option<u64>,
        /// Set a time limit, counted from now, e.g. 2h or 1h30m
        #[arg(long = "for", value_name = "TIME", value_parser = parse_seconds)]
        seconds: Option<i64>,
        #[command(flatten)]
        owner: OwnerArgs,
    },
    /// End a loop for good; takes effect at the session's next stop
    Cancel {
        /// The loop: its id, the beginning of its id, or a part of its name [default: the loop in the foreground]
        id: Option<String>,
    },
    /// Show what happened in a loop, iteration by iteration
    Log {
        /// The loop: its id, the beginning of its id, or a part of its name [default: the loop in the foreground]
        id: Option<String>,
    },
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    match &args.command {
        Command::Start(args) => start::run(world, args, format)?,
        Command::List => list::run(world, format)?,
        Command::Show { id } => show::run(world, id.as_deref(), format)?,
        Command::Activate { id, owner } => {
            print_changed_loop(
                world,
                &loops::activate_loop(world, id, owner.wanted_owner())?,
                "In the foreground:",
                format,
            );
        }
        Command::Adopt { id } => adopt::run(world, id, format)?,
        Command::Pause { id } => {
            print_changed_loop(world, &loops::pause_loop(world, id.as_deref())?, "Paused", format);
        }
        Command::Resume { id, max_iterations, seconds, owner } => {
            let how = ResumeOptions {
                max_iterations: *max_iterations,
                seconds: *seconds,
                owner: owner.wanted_owner(),
            };
            print_changed_loop(world, &loops::resume_loop(world, id.as_deref(), how)?, "Resumed", format);
        }
        Command::Cancel { id } => {
            print_changed_loop(world, &loops::cancel_loop(world, id.as_deref())?, "Cancelled", format);
        }
        Command::Log { id } => log::run(world, id.as_deref(), format)?,
    }
    Ok(0)
}

#[derive(Debug, clap::Args)]
struct OwnerArgs {
    /// Run the loop in this session instead of the current one
    #[arg(long, value_name = "ID", conflicts_with = "next")]
    session: Option<String>,
    /// Run the loop in the next session that starts here
    #[arg(long)]
    next: bool,
}

impl OwnerArgs {
    fn wanted_owner(&self) -> WantedLoopOwner<'_> {
        match &self.session {
            Some(session) => WantedLoopOwner::NamedSession(session),
            None if self.next => WantedLoopOwner::NextSession,
            None => WantedLoopOwner::CurrentSession,
        }
    }
}

fn parse_seconds(text: &str) -> std::result::Result<i64, String> {
    time::parse_duration_seconds(text).ok_or_else(|| "write it like 2h, 90m or 1h30m".to_owned())
}
