//! `thru swarm extract`: writes the code blocks of a message into files.

use std::path::{Path, PathBuf};

use model::extract::{self, NamedBlock, Rules};
use model::text::count;
use serde::Serialize;
use store::{Dir, Replaced};

use crate::{Error, Mode, Result, World};

/// The longest message that is read.
const LARGEST: usize = 16 * 1024 * 1024;

/// Folders to which a message never writes.
const FORBIDDEN: &[&str] = &[".git", ".agent", ".ssh"];

/// Folders from which programs take instructions, besides the folders of the harnesses.
const GUARDED_FOLDERS: &[&str] = &[
    ".husky",
    ".vscode",
    ".idea",
    ".direnv",
    ".cargo",
    ".github",
    ".gitlab",
    ".githooks",
    ".git-hooks",
    ".circleci",
    ".buildkite",
    ".devcontainer",
];

/// Files from which programs take instructions without being asked, besides those of the harnesses.
const GUARDED_FILES: &[&str] = &[
    ".envrc",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".gitattributes",
    ".gitmodules",
    ".gitconfig",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".lefthook.yml",
    ".gitlab-ci.yml",
    ".travis.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "jenkinsfile",
    ".devcontainer.json",
];

/// What happens to a file that already exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// The file is kept, and the block is not written.
    Keep,
    Replace,
}

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub folder: PathBuf,
    pub files: Vec<ExtractedFile>,
    /// How many of the files were not written.
    pub left_out: usize,
}

#[derive(Clone, Debug, Serialize)]
pub struct ExtractedFile {
    pub path: String,
    /// The line of the message where the block begins.
    pub line: usize,
    pub lines: usize,
    pub outcome: Outcome,
    /// Something the user should know: the file's name differs from the name in the message, or the block has no
    /// end.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Created,
    Replaced,
    /// The file already has this text.
    Same,
    /// Another file has this name, and it is kept.
    Exists,
    /// The file would change what programs run, or what agents are told, and the user has not named it.
    Refused,
    /// The file could not be written; the note says why.
    Failed,
}

/// What the user allows.
#[derive(Clone, Copy, Debug)]
pub struct Allowed<'a> {
    pub existing: Existing,
    /// Files that may be written although they change what programs run, as the report names them.
    pub guarded: &'a [String],
}

pub fn run(
    world: &World,
    message: &str,
    into: Option<&Path>,
    allowed: Allowed,
    mode: Mode,
) -> Result<Report> {
    let folder = world.need_cwd()?.join(into.unwrap_or(Path::new("")));
    let dir = Dir::open(&folder)?;
    let folders: Vec<&str> = GUARDED_FOLDERS.iter().chain(harness::INSTRUCTION_FOLDERS).copied().collect();
    let names: Vec<&str> = GUARDED_FILES.iter().chain(harness::INSTRUCTION_FILES).copied().collect();
    let rules = Rules { forbidden: FORBIDDEN, guarded_folders: &folders, guarded_files: &names };
    let blocks = extract::named(message, &rules);
    if blocks.is_empty() {
        return Err(Error::Absent {
            what: "the message has no code block".into(),
            hint: "a code block stands between two lines of three backticks".into(),
        });
    }
    let mut files = Vec::new();
    for NamedBlock { block, path, note, is_guarded } in blocks {
        let is_refused =
            is_guarded && !allowed.guarded.iter().any(|name| name.trim_start_matches("./") == path);
        // A sentence may mention a file without meaning that the block is the whole of it.
        let existing = if block.is_mentioned { Existing::Keep } else { allowed.existing };
        // One file that cannot be written does not keep the others from being written and reported.
        let (outcome, problem) = match is_refused {
            true => (
                Outcome::Refused,
                format!("it changes what programs run, or what agents are told; `--allow {path}` writes it"),
            ),
            false => match put(&dir, &path, block.text.as_bytes(), existing, mode) {
                Ok(outcome) => (outcome, String::new()),
                Err(error) => (Outcome::Failed, error.to_string()),
            },
        };
        let is_only_mentioned = outcome == Outcome::Exists && block.is_mentioned;
        let mentioned =
            if is_only_mentioned { "the message only mentions this file, so it is not replaced" } else { "" };
        let unclosed = if block.is_closed { "" } else { "the message ends before the block does" };
        let note = [note.as_str(), &problem, mentioned, unclosed]
            .into_iter()
            .filter(|note| !note.is_empty())
            .collect::<Vec<_>>()
            .join("; ");
        files.push(ExtractedFile {
            path,
            line: block.line,
            lines: block.text.lines().count(),
            outcome,
            note,
        });
    }
    let is_left_out =
        |file: &&ExtractedFile| matches!(file.outcome, Outcome::Exists | Outcome::Refused | Outcome::Failed);
    let left_out = files.iter().filter(is_left_out).count();
    Ok(Report { folder, files, left_out })
}

/// Reads a message from a file, or from stdin.
pub fn message(world: &World, named: &Path) -> Result<String> {
    let bytes = match named.to_str() {
        Some("-") => crate::input::stdin(LARGEST)?,
        _ => store::read_given(&world.need_cwd()?.join(named), LARGEST)?,
    };
    String::from_utf8(bytes).map_err(|_| Error::Usage {
        what: "the message is not UTF-8".into(),
        hint: "a message is text".into(),
    })
}

/// Writes one file below `dir`, without following links.
fn put(dir: &Dir, path: &str, text: &[u8], existing: Existing, mode: Mode) -> Result<Outcome> {
    let known = match dir.read(path, LARGEST) {
        Err(store::Error::Absent { .. }) => None,
        bytes => Some(bytes?),
    };
    let outcome = match (&known, existing) {
        (None, _) => Outcome::Created,
        (Some(known), _) if known == text => Outcome::Same,
        (Some(_), Existing::Keep) => Outcome::Exists,
        (Some(_), Existing::Replace) => Outcome::Replaced,
    };
    if mode == Mode::DryRun || matches!(outcome, Outcome::Same | Outcome::Exists) {
        return Ok(outcome);
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let replaced = match folder {
        "" => dir.replace_if(name, known.as_deref(), text)?,
        folder => dir.make_by_umask(folder)?.replace_if(name, known.as_deref(), text)?,
    };
    // If the file was not replaced, another program wrote it meanwhile.
    Ok(if replaced == Replaced::Done { outcome } else { Outcome::Exists })
}

/// Describes the result: `3 files written, 1 left out`.
pub fn words(report: &Report, mode: Mode) -> String {
    let written = report
        .files
        .iter()
        .filter(|file| matches!(file.outcome, Outcome::Created | Outcome::Replaced))
        .count();
    let would = if mode == Mode::DryRun { "would be " } else { "" };
    let left = if report.left_out == 0 { String::new() } else { format!(", {} left out", report.left_out) };
    format!("{} {would}written{left}", count(written, "file"))
}
