//! Gives a starting sub-agent the facts that an agent of its type needs, and describes the recent work of other
//! agents.

use std::cell::RefCell;

use model::brief::{self, BriefMaterial, BriefOccasion};
use model::event::{EventName, EventSet};
use model::profile;
use model::reply::{Reply, ReplyPart};

use crate::features::sessions::others;
use crate::features::{self, BriefContext, Feature, FeatureAnswer, decisions};
use crate::hook::context::HookContext;
use crate::session::facts::{self, ExaminedFiles};
use crate::session::roster::Roster;
use crate::{Result, WriteMode};

pub const FEATURE_ROW: Feature = Feature {
    name: "profiles",
    wanted_events: EventSet::from_names(&[EventName::SubagentStart]),
    decide,
    ..Feature::EMPTY_FEATURE
};

fn decide<'c>(context: &'c HookContext<'_>) -> Result<FeatureAnswer<'c>> {
    let settings = context.project.settings;
    let kind = context.event.subagent.as_ref().map_or("", |agent| agent.agent_type.as_ref());
    if kind.is_empty() || settings.profiles_max_chars == 0 {
        return Ok(FeatureAnswer::no_action("the sub-agent has no type, or profiles.max_chars is 0"));
    }
    let profile = profile::profile_of_subagent(kind, settings);
    let mut gathered =
        facts::gather_session_facts(&context.project, context.session, ExaminedFiles::OfSession)?;
    decisions::remove_recorded_answers(context.project.store, &mut gathered.digest)?;
    let brief = BriefContext {
        project: context.project,
        occasion: BriefOccasion::Asked,
        session: Some(context.session),
        described_session: Some(context.session),
        mode: WriteMode::DryRun,
        roster: Roster::of_store(context.project.store),
        held_locks: RefCell::default(),
        unwritten_packet: RefCell::default(),
    };
    let (mut records, problems) =
        features::candidates_of_features_with_sections(&brief, |section| profile.has_section(section));
    problems.into_iter().for_each(|problem| context.add_warning(problem));
    records.extend(others::recent_work_candidate_for_subagent(&context.project, context.session)?);
    let scoring = settings.enabled_scoring();
    let material = BriefMaterial {
        occasion: BriefOccasion::Asked,
        digest: &gathered.digest,
        hook_problems: &[],
        missing_files: &gathered.missing_files,
        feature_candidates: &records,
        scoring: scoring.as_ref(),
    };
    let why = format!("the profile is `{}`", profile.name);
    let cap = settings.profiles_max_chars.min(context.harness.max_context_length);
    // The sub-agent reads this text in its own context, so the text is not recorded as part of the session's context.
    Ok(match brief::compose_for_profile(&profile, &material, cap) {
        Some(brief) => FeatureAnswer::answer(ReplyPart::from_reply(Reply::ContextForAgent(brief.text)), why),
        None => FeatureAnswer::no_action(format!("{why}, and none of its facts are recorded")),
    })
}
