//! What a harness's hooks report, and the consequences of what they do not report.

use model::event::EventName;

use crate::Harness;

/// What the hooks of a harness report, beyond the list of events. Anything that they do not report is read from the
/// transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    pub reports_prompts: ReportCoverage,
    pub reports_compactions: ReportCoverage,
    pub reports_failed_tools: bool,
    /// Whether the hook events of a sub-agent say which sub-agent they come from.
    pub names_subagents: bool,
    /// Whether a resumed or forked session still has its conversation, including text that hooks added.
    pub replays_conversation: bool,
    /// Whether instructions for the summariser stay out of the conversation. If not, the model reads them again after
    /// the compaction, together with the brief.
    pub hides_guidance_from_model: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportCoverage {
    All,
    /// Some events are not reported. The string says which ones, and completes the phrase "no hook reports …".
    AllBut(&'static str),
}

impl Capabilities {
    pub const FULL_CAPABILITIES: Capabilities = Capabilities {
        reports_prompts: ReportCoverage::All,
        reports_compactions: ReportCoverage::All,
        reports_failed_tools: true,
        names_subagents: true,
        replays_conversation: true,
        hides_guidance_from_model: true,
    };

    pub fn reports_every_prompt(&self) -> bool {
        self.reports_prompts == ReportCoverage::All
    }

    pub fn reports_every_compaction(&self) -> bool {
        self.reports_compactions == ReportCoverage::All
    }
}

impl Harness {
    pub fn reports_event(&self, event: EventName) -> bool {
        self.events.iter().any(|wired| wired.our_event == event)
    }

    /// Returns a description of each gap in the hooks' reports, with the consequence of the gap.
    pub fn describe_gaps(&self) -> Vec<String> {
        let Capabilities {
            reports_prompts, reports_compactions, reports_failed_tools, names_subagents, ..
        } = self.capabilities;
        let mut gaps = Vec::new();
        if !reports_failed_tools {
            gaps.push(
                "no hook reports failed tool calls, so they are read from the transcript at the next stop"
                    .to_owned(),
            );
        }
        if let ReportCoverage::AllBut(which) = reports_compactions {
            gaps.push(format!(
                "no hook reports {which}, so it is read from the transcript at the next prompt or stop"
            ));
        }
        if let ReportCoverage::AllBut(which) = reports_prompts {
            gaps.push(format!(
                "no hook reports {which}, so it is read from the transcript when the agent stops"
            ));
        }
        if !self.reports_event(EventName::AfterCompact) {
            gaps.push("no hook after a compaction".to_owned());
        }
        if !self.reports_event(EventName::SubagentStart) {
            gaps.push("no hook when a sub-agent starts".to_owned());
        }
        if !names_subagents {
            gaps.push(
                "hooks do not say which sub-agent has stopped, so only `thru gate check` judges outputs"
                    .to_owned(),
            );
        }
        gaps.extend(self.limitations.iter().map(|limit| (*limit).to_owned()));
        gaps
    }
}

#[cfg(test)]
#[path = "capabilities_tests.rs"]
mod tests;
