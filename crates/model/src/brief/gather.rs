//! Turns the digest's and the features' facts into candidates, with one function for each section.

use super::candidate::{Candidate, FactClass};
use super::sections::{checks, commands, done, failures, files, goal, state, words};
use super::{BriefMaterial, effects, missing_in_summary};
use crate::render::inline_for_model;
use crate::text::fnv_fingerprint;

pub(super) fn gather_candidates(material: &BriefMaterial) -> Vec<Candidate> {
    let mut all = GatheredCandidates::default();
    all.add_effects(material);
    all.add_feature_facts(material);
    goal::gather_goal(material, &mut all);
    words::gather_user_words(material, &mut all);
    state::gather_state(material, &mut all);
    done::gather_done_work(material, &mut all);
    checks::gather_checks(material, &mut all);
    commands::gather_commands(material, &mut all);
    failures::gather_failures(material, &mut all);
    files::gather_files(material, &mut all);
    match material.visible_summary() {
        "" => all.candidates,
        _ => missing_in_summary::facts_missing_in_summary(all.candidates, material),
    }
}

#[derive(Default)]
pub(super) struct GatheredCandidates {
    candidates: Vec<Candidate>,
    counts: Vec<(FactClass, usize)>,
}

impl GatheredCandidates {
    /// Adds a fact as the last one of its class.
    pub fn add_fact(&mut self, class: FactClass, id: String, forms: Vec<String>) -> &mut Candidate {
        let at = self.candidates.len();
        self.push(Candidate::of_class(class, id, forms));
        &mut self.candidates[at]
    }

    fn push(&mut self, candidate: Candidate) {
        let place = self.next_position_in_class(candidate.class);
        self.candidates.push(Candidate { position_in_class: place, ..candidate });
    }

    fn next_position_in_class(&mut self, class: FactClass) -> usize {
        match self.counts.iter_mut().rev().find(|(known, _)| *known == class) {
            Some((_, count)) => {
                *count += 1;
                *count - 1
            }
            None => {
                self.counts.push((class, 1));
                0
            }
        }
    }

    #[cfg(test)]
    pub fn forms_of(&self, id: &str) -> &[String] {
        self.candidates.iter().find(|known| known.id == id).map_or(&[], |known| &known.forms)
    }

    pub fn has_fact(&self, id: &str) -> bool {
        self.candidates.iter().any(|known| known.id == id)
    }

    /// Returns whether a fact about a packet, such as one of its constraints, contains this text.
    pub fn has_text_of_packet(&self, text: &str) -> bool {
        let of_packets = self.candidates.iter().filter(|known| known.id.starts_with("packet:"));
        of_packets.flat_map(|known| &known.strings_stating_fact).any(|known| known.contains(text))
    }

    fn add_effects(&mut self, material: &BriefMaterial) {
        let candidates = match material.visible_summary() {
            "" => effects::effect_candidates(material.digest, material.occasion),
            summary => missing_in_summary::effect_candidates(material.digest, summary),
        };
        candidates.into_iter().for_each(|candidate| self.push(candidate));
    }

    /// Adds the features' facts in the order in which the features supply them, then problems with hooks.
    fn add_feature_facts(&mut self, material: &BriefMaterial) {
        for candidate in material.feature_candidates {
            self.push(candidate.clone());
        }
        for problem in material.hook_problems {
            let id = format!("problem:{:016x}", fnv_fingerprint([problem]));
            self.add_fact(FactClass::Problems, id, vec![inline_for_model(problem, 200)]);
        }
    }
}
