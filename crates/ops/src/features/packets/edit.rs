//! Changes a packet: a status, a file, a section. All other bytes stay the same.

use model::document::{Document, Head};
use model::id::Id;
use model::packet::{CONFIRMED, FILES, HEADINGS, Packet, SUGGESTED, Status, VALIDATORS, confirm};
use model::text::did_you_mean;
use model::{place, suggest, time};
use store::layout;

use super::{Shown, change, find, refused, set, touch};
use crate::input_redactor::InputRedactor;
use crate::project::{Project, settings};
use crate::{Error, Result, World};

/// How a packet is changed.
#[derive(Clone, Copy, Debug)]
pub enum Edit<'a> {
    Status(Status),
    Block { reason: &'a str },
    Confirm(&'a [String]),
    Unconfirm(&'a [String]),
    Section { heading: &'a str, text: &'a str },
}

/// A packet that was changed.
#[derive(Debug)]
pub struct Edited {
    pub shown: Shown,
    /// Something the user should know about the edit.
    pub note: Option<&'static str>,
    /// Whether a secret in the input was redacted.
    pub covered: bool,
}

/// Changes a packet under its lock; all other bytes stay the same.
pub fn edit(world: &World, word: &str, edit: Edit) -> Result<Edited> {
    let project = Project::find(world)?;
    let id = find(&project, word)?;
    if let Edit::Block { reason } = edit
        && reason.trim().is_empty()
    {
        return Err(Error::Usage {
            what: "the reason is empty".into(),
            hint: "say why the work cannot continue: --reason \"no access to the server\"".into(),
        });
    }
    let given = InputRedactor::to(world);
    // Declared here so that the texts live long enough.
    let (reason_given, text_given);
    let edit = match edit {
        Edit::Block { reason } => {
            reason_given = given.clean(reason);
            Edit::Block { reason: &reason_given }
        }
        Edit::Section { heading, text } => {
            text_given = given.clean(text);
            Edit::Section { heading, text: &text_given }
        }
        Edit::Status(_) | Edit::Confirm(_) | Edit::Unconfirm(_) => edit,
    };
    let (mut note, mut confirmed_before) = (None, Vec::new());
    let shown = change(&project, &id, |document| {
        let before = document.bytes().to_vec();
        confirmed_before = Packet::whole(document, id.as_str()).confirmed;
        note = apply(document, edit, &project)?;
        // Setting a section changes only the bytes of that section, so not even the time is updated.
        let is_section = matches!(edit, Edit::Section { .. });
        if is_section || document.bytes() == before { Ok(()) } else { touch(document, world) }
    })?;
    let mut confirmed = shown.packet.confirmed.clone();
    confirmed.retain(|file| !confirmed_before.contains(file));
    index_confirmed(world, &project, &id, &confirmed);
    Ok(Edited { shown, note, covered: given.was_covered() })
}

/// Applies the edit. Returns a note for the user.
fn apply(document: &mut Document, edit: Edit, project: &Project) -> Result<Option<&'static str>> {
    match edit {
        Edit::Status(status) => {
            set(document, "status", status.name())?;
            // A packet that is opened again, or that has ended, loses its claim, so that another session can claim
            // it.
            document.remove("claimed_by");
            document.remove("claimed_at");
            document.remove("blocked_reason");
            Ok(None)
        }
        Edit::Block { reason } => {
            set(document, "status", Status::Blocked.name())?;
            set(document, "blocked_reason", reason).map(|()| None)
        }
        Edit::Confirm(files) => {
            let files = inside(project, files)?;
            confirm::confirm(document, &files).map(|()| None).map_err(|why| refused(&why))
        }
        Edit::Unconfirm(files) => unconfirm(document, &below(project, files)).map(|()| None),
        Edit::Section { heading, text } => set_section(document, heading, text),
    }
}

/// Adds confirmed files to the index of files. The packet already contains them, so a failure here is ignored.
pub(crate) fn index_confirmed(world: &World, project: &Project, id: &Id, files: &[String]) {
    if files.is_empty() {
        return;
    }
    let lines = suggest::confirmed(files, id.as_str(), &time::rfc3339(world.now));
    let limit = settings::here(world).settings().log_limit_bytes();
    let _ = project.store.dir().append_all(layout::RELEVANT_FILES, &lines, limit);
}

/// Returns paths in the form that records use: relative to the root.
fn below(project: &Project, files: &[String]) -> Vec<String> {
    let checkout = project.root.checkout.to_string_lossy();
    files.iter().map(|file| place::within(&checkout, file).path.into_owned()).collect()
}

/// Returns the files if they can be confirmed, which means that they exist below the root.
pub(crate) fn inside(project: &Project, files: &[String]) -> Result<Vec<String>> {
    let checkout = project.root.checkout.to_string_lossy();
    for file in files {
        let place = place::within(&checkout, file);
        if place.outside {
            return Err(Error::Refused {
                what: format!("{} is outside the project, so nobody could open it", place.path),
                hint: "confirm files below the project's folder".into(),
            });
        }
        match project.root.checkout.join(place.path.as_ref()).symlink_metadata() {
            Ok(there) if there.is_dir() => {
                return Err(Error::Refused {
                    what: format!("{file} is a folder"),
                    hint: "confirm the files in it that matter".into(),
                });
            }
            Ok(_) => {}
            Err(_) => {
                return Err(Error::Absent {
                    what: format!("there is no file {} in the project", place.path),
                    hint: "name it from here, or from the project's folder".into(),
                });
            }
        }
    }
    Ok(below(project, files))
}

fn unconfirm(document: &mut Document, files: &[String]) -> Result<()> {
    let confirmed = Packet::whole(document, "").confirmed;
    if let Some(missing) = files.iter().find(|file| !confirmed.contains(file)) {
        return Err(Error::Absent {
            what: format!("`{missing}` is not among the confirmed files"),
            hint: if confirmed.is_empty() { "there is none".into() } else { confirmed.join(", ") },
        });
    }
    confirm::unconfirm(document, files).map_err(|why| refused(&why))
}

/// Replaces a section. Our own headings are found by the beginning of their name, other headings by their whole name.
fn set_section(document: &mut Document, heading: &str, text: &str) -> Result<Option<&'static str>> {
    let wanted = heading.trim().trim_start_matches('#').trim();
    let own = document
        .headings()
        .iter()
        .find(|known| known.text == wanted)
        .map(|known| (known.level, known.text.clone()));
    let ours = HEADINGS.iter().find(|known| known.to_lowercase().starts_with(&wanted.to_lowercase()));
    let (level, name) = match (own, ours) {
        (Some(own), _) => own,
        (None, Some(ours)) if !wanted.is_empty() => (2, (*ours).to_owned()),
        _ => {
            let near = did_you_mean(wanted, HEADINGS.iter().copied());
            let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            return Err(Error::Usage {
                what: format!("the packet has no section `{wanted}`"),
                hint: format!("{near}the sections are: {}", HEADINGS.join(", ")),
            });
        }
    };
    // Typed or piped text has the system's line ends; the file has its own.
    let text = text.replace("\r\n", "\n");
    let text = text.trim_end_matches(['\n', '\r']).replace('\n', document.line_end());
    document.set_section(&[Head::exact(level, &name)], text).map_err(|why| refused(&why))?;
    Ok(what_counts(&name))
}

/// Returns a note if the frontmatter contains the same information as the section.
fn what_counts(section: &str) -> Option<&'static str> {
    match section {
        FILES | CONFIRMED | SUGGESTED => Some(
            "files below Confirmed and files in the frontmatter both count as confirmed: `thru packet confirm` and `unconfirm` change both",
        ),
        VALIDATORS => Some(
            "a pickup and a loop use the frontmatter's `validators`, not this text: change both (`thru packet open`)",
        ),
        _ => None,
    }
}
