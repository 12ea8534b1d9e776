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
    /// How many facts of each class were added.
    counts: Vec<(Class, usize)>,
}

impl Gathered {
    /// Adds a fact as the last of its class.
    pub fn add(&mut self, class: Class, id: String, forms: Vec<String>) -> &mut Candidate {
        let at = self.candidates.len();
        self.push(Candidate::of(class, id, forms));
        &mut self.candidates[at]
    }

    fn push(&mut self, candidate: Candidate) {
        let place = self.next_place(candidate.class);
        self.candidates.push(Candidate { place, ..candidate });
    }

    /// Returns how many facts of the class were added before this one.
    fn next_place(&mut self, class: Class) -> usize {
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

    /// Whether a fact with this id was added.
    pub fn has(&self, id: &str) -> bool {
        self.candidates.iter().any(|known| known.id == id)
    }

    /// Adds what is at risk and what was done to the outside world. They come before everything else.
    fn outside(&mut self, material: &Material) {
        for candidate in effects::candidates(material.digest, material.summary()) {
            self.push(candidate);
        }
    }

    /// Adds the features' facts in the order of their rows, and problems with hooks.
    fn features(&mut self, material: &Material) {
        for candidate in material.records {
            self.push(candidate.clone());
        }
        for problem in material.problems {
            let id = format!("problem:{:016x}", fingerprint([problem]));
            self.add(Class::Problems, id, vec![inline(problem, 200)]);
        }
    }
}
