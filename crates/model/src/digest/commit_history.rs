//! What became of commits, according to the moves in HEAD's reflog. A reflog is not the whole history, so each answer may
//! be "unknown".

use std::collections::BTreeMap;
use std::ops::Bound;

use super::BranchMove;

/// Whether one commit contains another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Containment {
    Yes,
    No,
    Unknown,
}

/// What replaced a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Replacement {
    /// Another commit, which an amend or a rebase made.
    Commit(usize),
    /// A rebase dropped the commit or made it part of another one.
    Unknown,
}

/// The commits that HEAD's reflog names, and how they are related.
#[derive(Debug, Default)]
pub struct CommitHistory<'m> {
    places: BTreeMap<&'m str, usize>,
    /// In the order in which they first appear in the reflog. A commit cannot contain a commit that was made later.
    commits: Vec<KnownCommit<'m>>,
    made_since_removal: Vec<&'m str>,
}

#[derive(Debug)]
struct KnownCommit<'m> {
    id: &'m str,
    /// Empty if the reflog does not contain it.
    subject: &'m str,
    /// Commits that this one contains. Not all of them are parents.
    contains: Vec<usize>,
    /// Whether `contains` has all parents of this commit.
    are_parents_known: bool,
    replacement: Option<Replacement>,
    /// Whether a reset removed this commit from the branch. Set to false when the commit is checked out again.
    is_removed_by_reset: bool,
}

/// The commits that a commit is known to contain, and the commit itself.
#[derive(Debug)]
struct ContainedCommits {
    /// Newest first.
    places: Vec<usize>,
    is_in: Vec<bool>,
}

/// How a move changed HEAD.
#[derive(Debug)]
enum MoveKind<'m> {
    /// A commit with this subject was made on top of the previous commit.
    NewCommit(&'m str),
    /// A commit with this subject replaced the previous commit.
    Amend(&'m str),
    /// A rebase made a commit with this subject, or changed the previous commit's message so that it has this
    /// subject.
    Reword(&'m str),
    /// The new commit contains the previous one, but the reflog does not name all parents of the new commit.
    Advance,
    RebaseBegins,
    RebaseEnds,
    RebaseAborted,
    Reset {
        to: &'m str,
    },
    /// Another commit was checked out.
    Other,
}

/// A rebase that has begun: the commit that was checked out, the commit that the rebase starts from, and the commits
/// made so far, with their subjects.
#[derive(Debug)]
struct OpenRebase<'m> {
    from: usize,
    onto: usize,
    made: Vec<(&'m str, usize)>,
}

impl<'m> CommitHistory<'m> {
    /// Reads the moves of HEAD, oldest first.
    pub fn from_moves(moves: &'m [BranchMove]) -> CommitHistory<'m> {
        let mut history = CommitHistory::default();
        let mut rebase: Option<OpenRebase> = None;
        for found in moves {
            let before = history.place_of(&found.commit_before);
            let now = history.place_of(&found.commit);
            history.mark_as_checked_out(now);
            match MoveKind::of_text(&found.what) {
                MoveKind::NewCommit(subject) => history.add_commit(before, now, subject, rebase.as_mut()),
                MoveKind::Amend(subject) => history.add_amend(before, now, subject),
                MoveKind::Reword(subject) => {
                    let is_pick =
                        rebase.as_ref().is_some_and(|open| history.replaces_original(open, subject));
                    match is_pick {
                        true => history.add_commit(before, now, subject, rebase.as_mut()),
                        false => history.add_amend(before, now, subject),
                    }
                }
                MoveKind::Advance => history.add_contained(now, before),
                MoveKind::RebaseBegins => {
                    rebase = Some(OpenRebase { from: before, onto: now, made: Vec::new() });
                }
                MoveKind::RebaseEnds => {
                    if let Some(open) = rebase.take() {
                        history.add_replacements(&open);
                    }
                }
                MoveKind::RebaseAborted => rebase = None,
                MoveKind::Reset { to } => history.add_reset(before, now, to),
                MoveKind::Other => {}
            }
        }
        history
    }

    pub fn has_commit(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }

    /// Returns the full id of the commit whose id starts with `beginning`. Returns `None` if several ids do or
    /// if `beginning` is too short.
    pub fn find_commit(&self, beginning: &str) -> Option<&'m str> {
        let from = (Bound::Included(beginning), Bound::Unbounded);
        let mut found = self.places.range::<str, _>(from).take_while(|(id, _)| id.starts_with(beginning));
        let first = found.next().map(|(id, _)| *id)?;
        (beginning.len() >= 4 && found.next().is_none()).then_some(first)
    }

    pub fn subject(&self, id: &str) -> &'m str {
        self.places.get(id).map_or("", |place| self.commits[*place].subject)
    }

    /// Returns whether the commit `whole` contains the commit `part`. The result is `Unknown` if the reflog
    /// does not name both of them.
    pub fn contains(&self, whole: &str, part: &str) -> Containment {
        if whole == part {
            return Containment::Yes;
        }
        match (self.places.get(whole), self.places.get(part)) {
            (Some(whole), Some(part)) => self.containment(&self.commits_in(*whole), *part),
            _ => Containment::Unknown,
        }
    }

    /// Returns whether a rebase or an amend replaced a commit. Also returns its replacement, then the replacement
    /// of that commit, and so on, as far as they are known.
    pub fn replacements(&self, id: &str) -> (bool, Vec<&'m str>) {
        let mut found = Vec::new();
        let mut place = self.places.get(id).copied();
        let mut is_replaced = false;
        while let Some(replacement) = place.and_then(|place| self.commits[place].replacement) {
            is_replaced = true;
            place = match replacement {
                Replacement::Commit(next) if !found.contains(&self.commits[next].id) => Some(next),
                _ => None,
            };
            found.extend(place.map(|place| self.commits[place].id));
        }
        (is_replaced, found)
    }

    pub fn is_removed_by_reset(&self, id: &str) -> bool {
        self.places.get(id).is_some_and(|place| self.commits[*place].is_removed_by_reset)
    }

    /// Returns the commits that were made after the last reset that removed commits.
    pub fn commits_made_since_removal(&self) -> &[&'m str] {
        &self.made_since_removal
    }

    fn place_of(&mut self, id: &'m str) -> usize {
        let next = self.commits.len();
        let place = *self.places.entry(id).or_insert(next);
        if place == next {
            self.commits.push(KnownCommit {
                id,
                subject: "",
                contains: Vec::new(),
                are_parents_known: false,
                replacement: None,
                is_removed_by_reset: false,
            });
        }
        place
    }

    fn add_contained(&mut self, whole: usize, part: usize) {
        if whole != part && !self.commits[whole].contains.contains(&part) {
            self.commits[whole].contains.push(part);
        }
    }

    fn add_commit(
        &mut self,
        before: usize,
        now: usize,
        subject: &'m str,
        rebase: Option<&mut OpenRebase<'m>>,
    ) {
        self.add_contained(now, before);
        (self.commits[now].subject, self.commits[now].are_parents_known) = (subject, true);
        self.made_since_removal.push(self.commits[now].id);
        if let Some(open) = rebase {
            open.made.push((subject, now));
        }
    }

    fn add_amend(&mut self, before: usize, now: usize, subject: &'m str) {
        if before == now {
            return;
        }
        let KnownCommit { contains, are_parents_known, .. } = &self.commits[before];
        let (contains, are_parents_known) = (contains.clone(), *are_parents_known);
        let amended = &mut self.commits[now];
        (amended.subject, amended.contains, amended.are_parents_known) =
            (subject, contains, are_parents_known);
        self.commits[before].replacement = Some(Replacement::Commit(now));
    }

    fn commits_in(&self, whole: usize) -> ContainedCommits {
        let mut found = ContainedCommits { is_in: vec![false; self.commits.len()], places: vec![whole] };
        found.is_in[whole] = true;
        let mut next = 0;
        while let Some(place) = found.places.get(next).copied() {
            next += 1;
            for part in &self.commits[place].contains {
                if !std::mem::replace(&mut found.is_in[*part], true) {
                    found.places.push(*part);
                }
            }
        }
        found
    }

    /// Returns whether a commit contains `part`. `all` is the result of `commits_in` for that commit.
    fn containment(&self, all: &ContainedCommits, part: usize) -> Containment {
        // A commit that existed before `part` was made cannot contain it.
        let may_contain = |place: &usize| *place > part && !self.commits[*place].are_parents_known;
        match all.is_in[part] {
            true => Containment::Yes,
            false if all.places.iter().any(may_contain) => Containment::Unknown,
            false => Containment::No,
        }
    }

    /// If a commit is checked out again, it no longer counts as removed. The same is true of the commits that it
    /// contains.
    fn mark_as_checked_out(&mut self, now: usize) {
        if self.commits[now].is_removed_by_reset {
            for place in self.commits_in(now).places {
                self.commits[place].is_removed_by_reset = false;
            }
        }
    }

    fn add_reset(&mut self, before: usize, now: usize, to: &str) {
        if before == now {
            return;
        }
        let kept = self.commits_in(now);
        for place in self.commits_in(before).places {
            let is_known_to_be_above = place == before && matches!(to.get(..5), Some("HEAD~" | "HEAD^"));
            let is_left = is_known_to_be_above || self.containment(&kept, place) == Containment::No;
            if is_left {
                self.commits[place].is_removed_by_reset = true;
                self.made_since_removal.clear();
            }
        }
    }

    /// Returns the originals of a rebase, that is, the commits that it replays, newest first. Also returns
    /// whether this list is known to be exact. If it is not, the list may contain other commits too.
    fn originals(&self, open: &OpenRebase) -> (Vec<usize>, bool) {
        let (all, below) = (self.commits_in(open.from), self.commits_in(open.onto));
        let are_exact = all.is_in[open.onto];
        (all.places.into_iter().filter(|place| !below.is_in[*place]).collect(), are_exact)
    }

    /// Returns whether the rebase still has to replace an original with this subject. If so, a new commit with
    /// the same subject is the replacement.
    fn replaces_original(&self, open: &OpenRebase, subject: &str) -> bool {
        let (originals, _) = self.originals(open);
        let is_same = |place: &&usize| self.commits[**place].subject == subject;
        let made = open.made.iter().filter(|(known, _)| *known == subject).count();
        originals.iter().filter(is_same).count() > made
    }

    /// Records which commit of a rebase replaced which original. The commits are matched by their subjects, newest first.
    fn add_replacements(&mut self, open: &OpenRebase) {
        let (originals, are_exact) = self.originals(open);
        let mut made = open.made.clone();
        let mut replacements = Vec::new();
        for place in &originals {
            let subject = self.commits[*place].subject;
            let found = made.iter().rposition(|(known, _)| *known == subject && !subject.is_empty());
            replacements.push(found.map(|found| made.remove(found).1));
        }
        // If the list is not exact, its oldest commits may be part of the new base. In that case, the rebase
        // did not drop them, although they have no replacement.
        let oldest = replacements.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let decided = if are_exact { originals.len() } else { oldest };
        for (place, found) in originals.iter().zip(replacements).take(decided) {
            // If the parent of a commit stays the same, a rebase keeps the commit, so the commit has no
            // replacement. If the rebase amended the commit afterwards, that replacement is already recorded.
            let replacement = &mut self.commits[*place].replacement;
            match found {
                Some(found) if found != *place => *replacement = Some(Replacement::Commit(found)),
                Some(_) => {}
                None => *replacement = replacement.or(Some(Replacement::Unknown)),
            }
        }
    }
}

impl<'m> MoveKind<'m> {
    fn of_text(what: &'m str) -> MoveKind<'m> {
        let (how, text) = what.split_once(": ").unwrap_or((what, ""));
        // `git pull --rebase` writes its own command line before the step, for example `pull --rebase -q (pick)`.
        let step = how.strip_suffix(')').and_then(|how| how.rsplit_once(" ("));
        match step {
            Some(("commit", "amend")) => MoveKind::Amend(text),
            Some(("commit", "merge")) => MoveKind::Advance,
            Some(("commit", _)) => MoveKind::NewCommit(text),
            Some((_, "start")) => MoveKind::RebaseBegins,
            Some((_, "finish")) => MoveKind::RebaseEnds,
            Some((_, "abort")) => MoveKind::RebaseAborted,
            Some((_, "pick" | "continue" | "edit")) => MoveKind::NewCommit(text),
            Some((_, "squash" | "fixup")) => MoveKind::Amend(text),
            Some((_, "reword")) => MoveKind::Reword(text),
            Some(_) => MoveKind::Other,
            None => match how.split(' ').next().unwrap_or_default() {
                "commit" | "cherry-pick" | "revert" | "am" => MoveKind::NewCommit(text),
                "merge" | "pull" => MoveKind::Advance,
                "rebase" if text == "fast-forward" => MoveKind::Advance,
                "reset" => MoveKind::Reset { to: text.strip_prefix("moving to ").unwrap_or_default() },
                _ => MoveKind::Other,
            },
        }
    }
}

#[cfg(test)]
#[path = "commit_history_tests.rs"]
mod tests;
