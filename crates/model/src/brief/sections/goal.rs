//! What is wanted now: the current task, the proposals of the agent that were accepted, and the newest message.

use crate::brief::Material;
use crate::brief::candidate::Class;
use crate::brief::gather::Gathered;
use crate::digest::{Goal, Prompt};
use crate::prompt::Sort;
use crate::render::{code, quoted};
use crate::text::outline;

use super::said;

pub fn gather(material: &Material, all: &mut Gathered) {
    let digest = material.digest;
    let Goal { newest, accepted, task, is_answered } = digest.goal();
    let Some(newest) = newest else { return };
    let alone = task.is_none() && accepted.is_none();
    if let Some(task) = task {
        let (label, most): (&str, &[usize]) = match is_answered {
            true => ("Before it, answered", &[120, 300, 700]),
            false => ("Task", &[120, 300, 700, 1_600, 4_000, 8_000]),
        };
        let forms: Vec<String> = most.iter().map(|most| format!("{label}: {}", words(task, *most))).collect();
        all.add(Class::Goal, format!("prompt:{}", task.record), forms).known_by = vec![task.text.clone()];
    }
    // A plan that was approved before the task was given is about something else.
    let since = task.unwrap_or(newest).record.min(newest.record);
    if let Some(plan) = digest.plan.as_ref().filter(|plan| plan.record > since) {
        let form = |most: usize| format!("Approved plan: {}", quoted(&outline(&plan.text, most), most + 2));
        let forms = [160, 400, 900, 2_000, 4_000, 8_000].map(form);
        all.add(Class::Goal, format!("plan:{}", plan.record), forms.to_vec()).known_by =
            vec![plan.text.clone()];
    }
    if let Some(accepted) = accepted {
        let forms = [200, 400, 800, 1_600]
            .map(|most| format!("Accepted proposal of the agent: {}", said(&accepted.text, most)));
        all.add(Class::Goal, format!("accepted:{}", accepted.record), forms.to_vec()).known_by =
            vec![accepted.text.clone()];
    }
    let label = match (alone, newest.refused.is_empty()) {
        (true, true) => String::new(),
        (false, true) => "Newest message: ".to_owned(),
        (_, false) => format!("Newest message, refusing {}: ", code(&newest.refused, 60)),
    };
    // A short yes is quoted in full; a task alone is all there is to say.
    let most = match newest.sort() {
        Sort::Task if alone => [200, 500, 1_000, 2_000, 4_000, 8_000],
        _ => [130, 300, 600, 1_200, 2_400, 4_000],
    };
    let forms = most.map(|most| format!("{label}{}", words(newest, most)));
    all.add(Class::Goal, format!("prompt:{}", newest.record), forms.to_vec()).known_by =
        vec![newest.text.clone()];
}

/// Quotes the prompt verbatim as far as it fits; of a longer plan, its headings and steps.
fn words(prompt: &Prompt, most: usize) -> String {
    quoted(&outline(&prompt.text, most), most + 2)
}
