//! Where the work of a packet is, if it is not in this checkout.

use super::PickupInput;
use crate::render::in_backticks;

/// A branch with commits of a packet's work that are not in the checked-out commit.
#[derive(Clone, Copy, Debug)]
pub struct BranchOfWork<'a> {
    pub name: &'a str,
    /// The branch that is checked out here, or empty if there is none.
    pub branch_now: &'a str,
    /// The command that leads to the branch.
    pub command: &'a str,
}

/// Says in which worktree and on which branch the work is, and how to get there.
pub(super) fn place_of_work(pickup: &PickupInput) -> String {
    let mut text = String::new();
    if let Some(worktree) = pickup.worktree {
        let compared = match pickup.command_to_enter_worktree {
            Some(command) => format!(
                "To continue there: {}. What follows was compared with that worktree.",
                in_backticks(command, 300)
            ),
            None => "What follows was compared with this checkout, where a difference may be older than the \
                     packet."
                .to_owned(),
        };
        text.push_str(&format!("It describes {worktree}, not this checkout. {compared}\n\n"));
    }
    // The packet's worktree has the branch, so the command above leads there too.
    if let Some(branch) = pickup.branch_of_work.filter(|_| pickup.command_to_enter_worktree.is_none()) {
        let now = match branch.branch_now {
            "" => "no branch is".to_owned(),
            now => format!("{} is", in_backticks(now, 100)),
        };
        text.push_str(&format!(
            "Its work is on branch {}, but {now} checked out here. First: {}.\n\n",
            in_backticks(branch.name, 100),
            in_backticks(branch.command, 300)
        ));
    }
    text
}
