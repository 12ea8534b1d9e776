//! Joins the digests of a session and of the session that it continues.

use super::unclear_commits::UnclearCommit;
use super::{
    AgentStatement, ApprovedPlan, CallStep, DelegatedTask, Digest, FileEdit, FileUse, Prompt, RecordedEffect,
};

impl Digest {
    /// Appends this session to `earlier`, the session that it continues.
    pub fn append_to_earlier_digest(self, earlier: Digest) -> Digest {
        let shift = earlier.record_count;
        let mut whole =
            Digest { session: self.session, last_at: self.last_at, end_reason: self.end_reason, ..earlier };
        whole.record_count += self.record_count;
        whole.prompt_count += self.prompt_count;
        whole.unread_journal_bytes += self.unread_journal_bytes;
        whole.context = self.context;
        whole.compactions += self.compactions;
        // If the new session contains work, the earlier session's compaction is no longer the last one.
        if !(self.prompts.is_empty() && self.files.is_empty() && self.commands.is_empty()) {
            whole.last_compaction_before_work = shift + self.last_compaction_before_work;
            whole.compaction_without_work = None;
            whole.words_after_compact_command = self.words_after_compact_command;
        }
        if self.unnamed_change_at > 0 {
            whole.unnamed_change_at = self.unnamed_change_at + shift;
        }
        if self.last_work_record > 0 {
            whole.last_work_record = self.last_work_record + shift;
        }
        if !self.stopped_at.is_empty() {
            whole.stopped_at = self.stopped_at;
        }
        whole.command_about_records = self.command_about_records;
        whole.thru_commands.extend(self.thru_commands.iter().map(|record| record + shift));
        let later = |prompt: Prompt| Prompt { record: prompt.record + shift, ..prompt };
        whole.prompts.extend(self.prompts.into_iter().map(later));
        let later = |said: AgentStatement| AgentStatement { record: said.record + shift, ..said };
        whole.statements.extend(self.statements.into_iter().map(later));
        let later = |agent: DelegatedTask| DelegatedTask { record: agent.record + shift, ..agent };
        whole.agents.extend(self.agents.into_iter().map(later));
        whole.plan =
            self.plan.map(|plan| ApprovedPlan { record: plan.record + shift, ..plan }).or(whole.plan);
        let later = |change: FileEdit| FileEdit { record: change.record + shift, ..change };
        whole.changes.extend(self.changes.into_iter().map(later));
        let later = |step: CallStep| CallStep { record: step.record + shift, ..step };
        whole.steps.extend(self.steps.into_iter().map(later));
        let later = |record: u64| if record > 0 { record + shift } else { 0 };
        for file in self.files {
            match whole.files.iter_mut().find(|known| known.path == file.path) {
                Some(known) => {
                    known.edits += file.edits;
                    known.reads += file.reads;
                    known.mentions_in_commands += file.mentions_in_commands;
                    (known.deleted, known.last_use_record) = (file.deleted, file.last_use_record + shift);
                    known.commits_without_file += file.commits_without_file;
                    if file.edits > 0 {
                        known.edited_at = file.edited_at + shift;
                        known.commits_without_file = file.commits_without_file;
                    }
                    if file.written_at > 0 {
                        known.written_at = file.written_at + shift;
                        known.commits_without_file = file.commits_without_file;
                    }
                    if file.saved_at > 0 {
                        known.saved_at = file.saved_at + shift;
                    }
                    if file.discarded_at > 0 {
                        known.discarded_at = file.discarded_at + shift;
                    }
                    known.stashed = file.stashed;
                }
                None => whole.files.push(FileUse {
                    last_use_record: file.last_use_record + shift,
                    edited_at: later(file.edited_at),
                    written_at: later(file.written_at),
                    saved_at: later(file.saved_at),
                    discarded_at: later(file.discarded_at),
                    ..file
                }),
            }
        }
        whole.merge_continued_runs(self.commands, self.checks, self.failures, shift);
        whole.answers.extend(self.answers);
        let later = |used: RecordedEffect| RecordedEffect { record: used.record + shift, ..used };
        whole.effects.extend(self.effects.into_iter().map(later));
        if self.head_unclear_at > 0 {
            whole.head_unclear_at = self.head_unclear_at + shift;
        }
        let later = |unclear: UnclearCommit| unclear.with_record_shifted_by(shift);
        whole.unclear_commits.extend(self.unclear_commits.into_iter().map(later));
        if !self.branch.is_empty() {
            whole.branch = self.branch;
        }
        if !self.head.is_empty() {
            (whole.head, whole.head_read_at) = (self.head, self.head_read_at + shift);
        }
        whole.git_on_disk = self.git_on_disk.or(whole.git_on_disk);
        if !self.todos.is_empty() {
            whole.todos = self.todos;
            whole.todos_changed_at = self.todos_changed_at + shift;
        }
        if !self.last_message.is_empty() {
            whole.last_message_record = self.last_message_record + shift;
            whole.open_call = self.open_call;
        }
        for (mine, newer) in
            [(&mut whole.last_message, self.last_message), (&mut whole.summary, self.summary)]
        {
            if !newer.is_empty() {
                *mine = newer;
            }
        }
        whole
    }
}
