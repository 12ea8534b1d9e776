//! What is wanted now: the task as it stands, what was accepted of the agent's proposals, and the newest message.

use crate::brief::Material;
use crate::brief::candidate::Class;
use crate::brief::gather::Gathered;
use crate::digest::{Goal, Prompt};
use crate::prompt::Sort;
use crate::render::{code, quoted};
use crate::text::outline;

use super::said;

pub fn gather(material: &Material, all: &mut Gathered) {
    let Goal { newest, accepted, task } = material.digest.goal();
    let Some(newest) = newest else { return };
    let alone = task.is_none() && accepted.is_none();
    if let Some(task) = task {
        let forms = [160, 300, 700, 1_600, 4_000, 8_000].map(|most| format!("Task: {}", words(task, most)));
        all.add(Class::Goal, format!("prompt:{}", task.record), forms.to_vec()).known_by =
            vec![task.text.clone()];
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
    // A short yes is told in full; a task that stands alone is all there is to say.
    let most = match newest.sort() {
        Sort::Task if alone => [260, 500, 1_000, 2_000, 4_000, 8_000],
        _ => [200, 300, 600, 1_200, 2_400, 4_000],
    };
    let forms = most.map(|most| format!("{label}{}", words(newest, most)));
    all.add(Class::Goal, format!("prompt:{}", newest.record), forms.to_vec()).known_by =
        vec![newest.text.clone()];
}

/// Verbatim as far as it goes; of a plan that is longer, its headings and steps.
fn words(prompt: &Prompt, most: usize) -> String {
    quoted(&outline(&prompt.text, most), most + 2)
}
