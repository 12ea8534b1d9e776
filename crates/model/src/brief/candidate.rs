use crate::score::ScoreSignal;
use crate::tokens::TokenTextKind;

#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The stable id, such as `file:src/a.rs` or `loop:nightly`. A fact has the same id in every brief. `state/told/`
    /// records these ids.
    pub id: String,
    pub class: FactClass,
    /// The position within the class. The best fact has position 0.
    pub position_in_class: usize,
    /// The folder that contains the file. Files in the same folder are listed together.
    pub folder: Option<String>,
    /// The same fact in several lengths, shortest first. Never empty. The forms are already escaped, so nothing in them
    /// is read as markup.
    pub forms: Vec<String>,
    /// Whether the first form is only for a brief with little room. If there is more room, the second form takes the
    /// rank of the first.
    pub has_terse_form: bool,
    /// Whether the fact ranks after everything else, so that only a long brief contains it.
    pub is_late: bool,
    /// A summary that contains all of these strings already states the fact. If the list is empty, the fact is never
    /// considered known.
    pub strings_stating_fact: Vec<String>,
    pub text_kind: TokenTextKind,
    pub signals: FeatureSignals,
}

/// The importance that a feature assigns to its fact. Used only if briefs are ranked by score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureSignals {
    /// The signals of the fact. If the list is empty, the fact gets the default signal of its class, and the signal's
    /// value is computed from the fact's rank in the fixed order.
    pub signal_values: Vec<(ScoreSignal, SignalValue)>,
    /// For a task, the number of dependencies between it and the current task.
    pub depth: Option<u32>,
    /// For a decision, its age.
    pub age_hours: Option<f64>,
}

/// The value of a signal, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SignalValue {
    Exactly(f64),
    /// This fraction of the candidate's standing. The standing is computed from the candidate's rank in the fixed
    /// order.
    OfStanding(f64),
}

impl Candidate {
    /// Creates a candidate from a feature's records. It is printed before the session's own facts.
    pub fn new(section: &'static BriefSection, id: impl Into<String>, text: impl Into<String>) -> Candidate {
        Candidate::of_class(FactClass::First(section), id.into(), vec![text.into()])
    }

    /// Creates a candidate that is printed after the session's own facts. `forms` are sorted by length, shortest
    /// first.
    pub fn new_after_session_facts(
        section: &'static BriefSection,
        id: impl Into<String>,
        forms: Vec<String>,
    ) -> Candidate {
        Candidate::of_class(FactClass::Last(section), id.into(), forms)
    }

    pub(super) fn of_class(class: FactClass, id: String, forms: Vec<String>) -> Candidate {
        Candidate {
            id,
            class,
            position_in_class: 0,
            folder: None,
            forms,
            has_terse_form: false,
            is_late: false,
            strings_stating_fact: Vec::new(),
            text_kind: class.text_kind(),
            signals: FeatureSignals::default(),
        }
    }

    /// Adds a form that is shorter than the others. It is used only in a brief with little room.
    pub(super) fn add_terse_form(&mut self, form: String) {
        if self.forms.first() != Some(&form) {
            self.forms.insert(0, form);
            self.has_terse_form = true;
        }
    }

    pub fn with_signal(mut self, signal: ScoreSignal, value: f64) -> Candidate {
        self.signals.signal_values.push((signal, SignalValue::Exactly(value)));
        self
    }
}

/// A section of a brief whose candidates come from features. If several features add candidates to the same section,
/// it is printed once.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BriefSection {
    /// The position among the features' sections. The section with the lowest position is chosen and printed first.
    pub section_position: u32,
    /// The amount added to the rank for each longer form.
    pub rank_step_per_form: u32,
    /// The name that `thru brief --explain` and its JSON output use.
    pub name: &'static str,
    pub title: &'static str,
    /// The signal for facts that have no signals of their own.
    pub signal: ScoreSignal,
}

/// The class of a fact. The variants are listed in the order in which a brief prints its sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FactClass {
    /// Work that could be lost, and errors in the summary.
    Risk,
    First(&'static BriefSection),
    /// The user's current goal.
    Goal,
    /// The user's instructions, corrections and answers.
    Words,
    /// Effects on the outside world.
    Outside,
    State,
    /// Findings, decisions and finished work.
    Done,
    /// The project's checks and their results.
    Checks,
    Failing,
    /// Failures that will recur, each with an alternative that worked.
    Traps,
    Edited,
    Read,
    Commands,
    /// Requests that the agent has not answered yet, and the request that opened the session.
    Earlier,
    Named,
    /// Requests that were answered. They rank last, so only a long brief lists them.
    Answered,
    Last(&'static BriefSection),
    Problems,
}

/// How the facts of one class are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FactListLayout {
    OnePerLine,
    /// The facts are files.
    ByFolder,
    OnOneLine,
}

impl FactClass {
    pub(crate) fn title(self) -> &'static str {
        match self {
            FactClass::First(section) | FactClass::Last(section) => section.title,
            FactClass::Risk => "At risk",
            FactClass::Outside => "Already done (do not repeat)",
            FactClass::Goal => "Goal",
            FactClass::Words => "The user's words",
            FactClass::State => "Where it stands",
            FactClass::Done => "Found, decided, done (newest first)",
            FactClass::Checks => "Checks",
            FactClass::Failing => "Failing",
            FactClass::Traps => "Traps",
            FactClass::Edited | FactClass::Read => "Files",
            FactClass::Commands => "Commands that worked",
            FactClass::Earlier => "Also asked",
            FactClass::Named => "Files named in commands",
            FactClass::Answered => "Answered before, newest first",
            FactClass::Problems => "Throughline itself",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            FactClass::First(section) | FactClass::Last(section) => section.name,
            FactClass::Risk => "at-risk",
            FactClass::Outside => "outside",
            FactClass::Goal => "goal",
            FactClass::Words => "words",
            FactClass::State => "state",
            FactClass::Done => "done",
            FactClass::Checks => "check",
            FactClass::Failing => "failing",
            FactClass::Traps => "trap",
            FactClass::Edited => "edited",
            FactClass::Read => "read",
            FactClass::Commands => "command",
            FactClass::Earlier => "earlier",
            FactClass::Named => "named",
            FactClass::Answered => "answered",
            FactClass::Problems => "problem",
        }
    }

    /// Returns the signal for facts that have no signals of their own.
    pub(super) fn default_signal(self) -> ScoreSignal {
        match self {
            FactClass::First(section) | FactClass::Last(section) => section.signal,
            FactClass::Risk => ScoreSignal::Risk,
            FactClass::Outside => ScoreSignal::Effects,
            FactClass::Goal | FactClass::Words | FactClass::Earlier | FactClass::Answered => {
                ScoreSignal::Prompts
            }
            FactClass::State => ScoreSignal::State,
            FactClass::Done => ScoreSignal::Statements,
            FactClass::Failing => ScoreSignal::RecentFailure,
            FactClass::Checks | FactClass::Traps | FactClass::Commands => ScoreSignal::Commands,
            FactClass::Edited | FactClass::Read | FactClass::Named => ScoreSignal::Files,
            FactClass::Problems => ScoreSignal::Problems,
        }
    }

    /// Returns the priority, which breaks ties between facts with the same score. The highest priority comes first.
    pub(super) fn priority(self) -> u32 {
        match self {
            FactClass::Risk => 17,
            FactClass::First(_) => 16,
            FactClass::Goal => 15,
            FactClass::Words => 14,
            FactClass::Outside => 13,
            FactClass::State => 12,
            FactClass::Done => 11,
            FactClass::Checks => 10,
            FactClass::Failing => 9,
            FactClass::Traps => 8,
            FactClass::Edited => 7,
            FactClass::Read => 6,
            FactClass::Commands => 5,
            FactClass::Earlier => 4,
            FactClass::Named => 3,
            FactClass::Answered => 2,
            FactClass::Last(_) => 1,
            FactClass::Problems => 0,
        }
    }

    fn text_kind(self) -> TokenTextKind {
        match self {
            FactClass::Failing | FactClass::Checks | FactClass::Traps | FactClass::Commands => {
                TokenTextKind::Code
            }
            FactClass::Edited | FactClass::Read | FactClass::Named => TokenTextKind::Code,
            FactClass::Risk
            | FactClass::First(_)
            | FactClass::Last(_)
            | FactClass::Goal
            | FactClass::Words
            | FactClass::Outside
            | FactClass::State
            | FactClass::Done
            | FactClass::Earlier
            | FactClass::Answered
            | FactClass::Problems => TokenTextKind::Prose,
        }
    }

    pub(crate) fn is_file_class(self) -> bool {
        matches!(self, FactClass::Edited | FactClass::Read | FactClass::Named)
    }

    /// Returns the word to print before the file's name.
    pub(super) fn verb_before_file_name(self) -> &'static str {
        match self {
            FactClass::Edited => "edited ",
            FactClass::Read => "read ",
            _ => "",
        }
    }

    pub(super) fn layout(self) -> FactListLayout {
        match self {
            FactClass::Edited | FactClass::Read | FactClass::Named => FactListLayout::ByFolder,
            FactClass::Earlier | FactClass::Answered => FactListLayout::OnOneLine,
            _ => FactListLayout::OnePerLine,
        }
    }
}
