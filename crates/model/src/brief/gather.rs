//! Turns the facts of a digest and the facts of features into candidates: one function for each section.

use super::candidate::{Candidate, Class};
use super::sections::{checks, done, failures, files, goal, state, words};
use super::{Material, beside, effects};
use crate::render::inline;
use crate::text::fingerprint;

pub(super) fn candidates(material: &Material) -> Vec<Candidate> {
    let mut all = Gathered::default();
    all.outside(material);
    all.features(material);
    goal::gather(material, &mut all);
    words::gather(material, &mut all);
    state::gather(material, &mut all);
    done::gather(material, &mut all);
    checks::gather(material, &mut all);
    failures::gather(material, &mut all);
    files::gather(material, &mut all);
    match material.summary() {
        "" => all.candidates,
        summary => beside::additions(all.candidates, summary),
    }
}

#[derive(Default)]
pub(super) struct Gathered {
    candidates: Vec<Candidate>,
}

impl Gathered {
    /// Adds a fact as the last of its class.
    pub fn add(&mut self, class: Class, id: String, forms: Vec<String>) -> &mut Candidate {
        let place = self.candidates.iter().filter(|known| known.class == class).count();
        let at = self.candidates.len();
        self.candidates.push(Candidate { place, ..Candidate::of(class, id, forms) });
        &mut self.candidates[at]
    }

    /// Whether a fact with this id was added.
    pub fn has(&self, id: &str) -> bool {
        self.candidates.iter().any(|known| known.id == id)
    }

    /// Adds what is at risk and what was done to the outside world. They come before everything else.
    fn outside(&mut self, material: &Material) {
        for candidate in effects::candidates(material.digest, material.summary()) {
            let place = self.candidates.iter().filter(|known| known.class == candidate.class).count();
            self.candidates.push(Candidate { place, ..candidate });
        }
    }

    /// Adds the features' facts in the order of their rows, and problems with hooks.
    fn features(&mut self, material: &Material) {
        for candidate in material.records {
            let place = self.candidates.iter().filter(|known| known.class == candidate.class).count();
            self.candidates.push(Candidate { place, ..candidate.clone() });
        }
        for problem in material.problems {
            let id = format!("problem:{:016x}", fingerprint([problem]));
            self.add(Class::Problems, id, vec![inline(problem, 200)]);
        }
    }
}
