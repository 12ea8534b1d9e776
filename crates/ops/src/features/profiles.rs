//! What a sub-agent is given when it starts: the facts that its type needs, and what others did lately.

use std::cell::RefCell;

use model::brief::{self, Material, Occasion};
use model::event::{EventName, EventSet};
use model::profile;
use model::reply::{Part, Reply};

use crate::features::sessions::others;
use crate::features::{self, BriefContext, Decision, Feature, decisions};
use crate::hook::context::HookContext;
use crate::session::past;
use crate::session::roster::Roster;
use crate::{Mode, Result};

pub const ROW: Feature =
    Feature { name: "profiles", wants: EventSet::of(&[EventName::SubagentStart]), decide, ..Feature::NONE };

fn decide<'c>(context: &'c HookContext<'_>) -> Result<Decision<'c>> {
    let settings = context.project.settings;
    let kind = context.event.agent.as_ref().map_or("", |agent| agent.kind.as_ref());
    if kind.is_empty() || settings.profiles_max_chars == 0 {
        return Ok(Decision::nothing("the sub-agent has no type, or profiles.max_chars is 0"));
    }
    let profile = profile::of(kind, settings);
    let mut gathered = past::of_session(context.project.store, context.project.root, context.session)?;
    decisions::without_recorded(context.project.store, &mut gathered.digest)?;
    let brief = BriefContext {
        project: context.project,
        occasion: Occasion::Asked,
        session: Some(context.session),
        mode: Mode::DryRun,
        roster: Roster::of(context.project.store),
        held: RefCell::default(),
    };
    let (mut records, problems) = features::candidates_in(&brief, |section| profile.has_section(section));
    problems.into_iter().for_each(|problem| context.warn(problem));
    records.extend(others::lately(&context.project, context.session)?);
    let scoring = settings.scoring();
    let material = Material {
        occasion: Occasion::Asked,
        digest: &gathered.digest,
        problems: &[],
        gone: &gathered.gone,
        records: &records,
        scoring: scoring.as_ref(),
    };
    let why = format!("the profile is `{}`", profile.name);
    let cap = settings.profiles_max_chars.min(context.harness.context_cap);
    // What a sub-agent is told is in its own context, not in the session's, so it is not recorded as told.
    Ok(match brief::compose_for(&profile, &material, cap) {
        Some(brief) => Decision::answer(Part::of(Reply::Context(brief.text)), why),
        None => Decision::nothing(format!("{why}, and nothing of that is recorded")),
    })
}
