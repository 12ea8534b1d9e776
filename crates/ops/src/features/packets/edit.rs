//! Edits a packet: its status, its files or one section. All other bytes stay the same.

use model::document::{Document, HeadingPattern};
use model::id::Id;
use model::packet::{
    ALL_HEADINGS, CONFIRMED_FILES_HEADING, Packet, PacketStatus, RELEVANT_FILES_HEADING, SUGGESTED_HEADING,
    VALIDATORS_HEADING, confirm,
};
use model::text::nearest_allowed_word;
use model::{checkout_path, relevant_files, time};
use store::layout;

use super::{
    PacketShown, change_packet, edit_refused_error, find_packet, set_frontmatter, set_status,
    set_updated_time,
};
use crate::input_redactor::InputRedactor;
use crate::project::{Project, settings};
use crate::{Error, Result, World};

#[derive(Clone, Copy, Debug)]
pub enum PacketEdit<'a> {
    Status(PacketStatus),
    Block { reason: &'a str },
    Confirm(&'a [String]),
    Unconfirm(&'a [String]),
    Section { heading: &'a str, text: &'a str },
}

#[derive(Debug)]
pub struct EditedPacket {
    pub shown: PacketShown,
    /// A note that is shown to the user after the edit.
    pub note: Option<&'static str>,
    /// Whether a secret in the input was redacted.
    pub is_secret_redacted: bool,
}

pub fn edit_packet(world: &World, word: &str, edit: PacketEdit) -> Result<EditedPacket> {
    let project = Project::find_for_reading(world)?;
    let id = find_packet(&project, word)?;
    if let PacketEdit::Block { reason } = edit
        && reason.trim().is_empty()
    {
        return Err(Error::Usage {
            what: "the reason is empty".into(),
            hint: "say why the work cannot continue: --reason \"no access to the server\"".into(),
        });
    }
    let given = InputRedactor::with_settings_of(world);
    // These variables are declared here because the edit below borrows the redacted text.
    let (reason_given, text_given);
    let edit = match edit {
        PacketEdit::Block { reason } => {
            reason_given = given.redact_text(reason);
            PacketEdit::Block { reason: &reason_given }
        }
        PacketEdit::Section { heading, text } => {
            text_given = given.redact_text(text);
            PacketEdit::Section { heading, text: &text_given }
        }
        PacketEdit::Status(_) | PacketEdit::Confirm(_) | PacketEdit::Unconfirm(_) => edit,
    };
    let (mut note, mut confirmed_before) = (None, Vec::new());
    let shown = change_packet(&project, &id, |document| {
        let before = document.bytes().to_vec();
        confirmed_before = Packet::read_with_listed_files(document, id.as_str()).confirmed;
        note = apply_edit(document, edit, &project)?;
        // `thru packet set` must change only the bytes of the section, so it does not update the time.
        let is_section = matches!(edit, PacketEdit::Section { .. });
        if is_section || document.bytes() == before { Ok(()) } else { set_updated_time(document, world) }
    })?;
    let mut confirmed = shown.packet.confirmed.clone();
    confirmed.retain(|file| !confirmed_before.contains(file));
    add_confirmed_to_file_index(world, &project, &id, &confirmed);
    Ok(EditedPacket { shown, note, is_secret_redacted: given.has_redacted() })
}

/// Applies the edit, and may return a note for the user.
fn apply_edit(document: &mut Document, edit: PacketEdit, project: &Project) -> Result<Option<&'static str>> {
    match edit {
        PacketEdit::Status(status) => {
            set_status(document, status)?;
            Ok(None)
        }
        PacketEdit::Block { reason } => {
            set_frontmatter(document, "status", PacketStatus::Blocked.name())?;
            set_frontmatter(document, "blocked_reason", reason).map(|()| None)
        }
        PacketEdit::Confirm(files) => {
            let files = require_existing_files(project, files)?;
            confirm::confirm_files(document, &files).map(|()| None).map_err(|why| edit_refused_error(&why))
        }
        PacketEdit::Unconfirm(files) => {
            remove_confirmed_files(document, &paths_below_root(project, files)).map(|()| None)
        }
        PacketEdit::Section { heading, text } => set_section(document, heading, text),
    }
}

/// Adds confirmed files to the file index. A failure is ignored, because the packet already contains the files.
pub(crate) fn add_confirmed_to_file_index(world: &World, project: &Project, id: &Id, files: &[String]) {
    if files.is_empty() {
        return;
    }
    let lines =
        relevant_files::index_lines_of_confirmed_files(files, id.as_str(), &time::to_rfc3339(world.now));
    let limit = settings::settings_here(world).settings().log_limit_bytes();
    let _ = project.store.dir().append_lines(layout::RELEVANT_FILES_INDEX, &lines, limit);
}

/// Returns the paths relative to the checkout, which is how records store them.
fn paths_below_root(project: &Project, files: &[String]) -> Vec<String> {
    let checkout = project.root.checkout.to_string_lossy();
    files.iter().map(|file| checkout_path::path_within_checkout(&checkout, file).path.into_owned()).collect()
}

/// Returns the files as paths relative to the checkout. Returns an error if one of them does not exist in the
/// checkout, because such a file cannot be confirmed.
pub(crate) fn require_existing_files(project: &Project, files: &[String]) -> Result<Vec<String>> {
    let checkout = project.root.checkout.to_string_lossy();
    for file in files {
        let place = checkout_path::path_within_checkout(&checkout, file);
        if place.is_outside {
            return Err(Error::Refused {
                what: format!("{} is outside the project, so other people could not open it", place.path),
                hint: "confirm only files in the project's folder".into(),
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
                    hint: "give its path relative to this folder or to the project's folder".into(),
                });
            }
        }
    }
    Ok(paths_below_root(project, files))
}

fn remove_confirmed_files(document: &mut Document, files: &[String]) -> Result<()> {
    let confirmed = Packet::read_with_listed_files(document, "").confirmed;
    if let Some(missing) = files.iter().find(|file| !confirmed.contains(file)) {
        return Err(Error::Absent {
            what: format!("`{missing}` is not among the confirmed files"),
            hint: if confirmed.is_empty() { "no file is confirmed".into() } else { confirmed.join(", ") },
        });
    }
    confirm::unconfirm_files(document, files).map_err(|why| edit_refused_error(&why))
}

/// Replaces a section. The beginning of a standard heading is enough to match it. Any other heading must be given in
/// full.
fn set_section(document: &mut Document, heading: &str, text: &str) -> Result<Option<&'static str>> {
    let wanted = heading.trim().trim_start_matches('#').trim();
    let own = document
        .headings()
        .iter()
        .find(|known| known.text == wanted)
        .map(|known| (known.level, known.text.clone()));
    let ours = ALL_HEADINGS.iter().find(|known| known.to_lowercase().starts_with(&wanted.to_lowercase()));
    let (level, name) = match (own, ours) {
        (Some(own), _) => own,
        (None, Some(ours)) if !wanted.is_empty() => (2, (*ours).to_owned()),
        _ => {
            let near = nearest_allowed_word(wanted, ALL_HEADINGS.iter().copied());
            let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            return Err(Error::Usage {
                what: format!("the packet has no section `{wanted}`"),
                hint: format!("{near}the sections are: {}", ALL_HEADINGS.join(", ")),
            });
        }
    };
    // Convert the line endings, because those of typed or piped text may differ from those of the file.
    let text = text.replace("\r\n", "\n");
    let text = text.trim_end_matches(['\n', '\r']).replace('\n', document.line_ending());
    document
        .set_section(&[HeadingPattern::exact(level, &name)], text)
        .map_err(|why| edit_refused_error(&why))?;
    Ok(frontmatter_note(&name))
}

/// Returns a note for the user if the frontmatter contains the same information as the section.
fn frontmatter_note(section: &str) -> Option<&'static str> {
    match section {
        RELEVANT_FILES_HEADING | CONFIRMED_FILES_HEADING | SUGGESTED_HEADING => Some(
            "files under the heading `Confirmed` and files in the frontmatter both count as confirmed; `thru packet confirm` and `thru packet unconfirm` change both places",
        ),
        VALIDATORS_HEADING => Some(
            "a pickup and a loop use the frontmatter's `validators`, not this text: change both (`thru packet open`)",
        ),
        _ => None,
    }
}
