//! `thru swarm extract`: writes the code blocks in a message to files.

use std::path::{Path, PathBuf};

use model::extract::{self, FileNameRules, NamedBlock};
use model::text::count_with_noun;
use serde::Serialize;
use store::{Dir, ReplaceOutcome};

use crate::{Error, Result, World, WriteMode};

/// The longest message that is read.
const MAX_EXTRACTED_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// Folders into which no block is ever written.
const FORBIDDEN_FOLDERS: &[&str] = &[".git", ".agent", ".ssh"];

/// Folders whose files control what programs do. The harnesses' own folders are guarded too.
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

/// Files that control what programs do. The harnesses' own files are guarded too.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingFilePolicy {
    /// Keep the existing file and do not write the block.
    Keep,
    Replace,
}

#[derive(Clone, Debug, Serialize)]
pub struct ExtractReport {
    pub folder: PathBuf,
    pub files: Vec<ExtractedFile>,
    pub left_out: usize,
}

#[derive(Clone, Debug, Serialize)]
pub struct ExtractedFile {
    pub path: String,
    /// The line of the message on which the block begins.
    pub line: usize,
    pub lines: usize,
    pub outcome: ExtractOutcome,
    /// A note for the user, for example that the file's name differs from the name in the message, or that the block
    /// has no end.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ExtractOutcome {
    Created,
    Replaced,
    /// The file already contains this text.
    Same,
    /// A different file with this name exists and is kept.
    Exists,
    /// The file would change which programs run or what agents are told, and the user has not allowed it by name.
    Refused,
    /// The file could not be written; the note says why.
    Failed,
}

#[derive(Clone, Copy, Debug)]
pub struct AllowedWrites<'a> {
    pub existing_file: ExistingFilePolicy,
    /// The guarded files that may be written. A guarded file can determine which programs run or what agents are told.
    /// The names are the same as in the report.
    pub allowed_guarded_files: &'a [String],
}

pub fn extract_files(
    world: &World,
    message: &str,
    into: Option<&Path>,
    allowed: AllowedWrites,
    mode: WriteMode,
) -> Result<ExtractReport> {
    let folder = world.require_cwd()?.join(into.unwrap_or(Path::new("")));
    let dir = Dir::open(&folder)?;
    let folders: Vec<&str> = GUARDED_FOLDERS.iter().chain(harness::INSTRUCTION_FOLDERS).copied().collect();
    let names: Vec<&str> = GUARDED_FILES.iter().chain(harness::INSTRUCTION_FILES).copied().collect();
    let rules = FileNameRules {
        forbidden_folders: FORBIDDEN_FOLDERS,
        guarded_folders: &folders,
        guarded_files: &names,
    };
    let blocks = extract::assign_paths_to_blocks(message, &rules);
    if blocks.is_empty() {
        return Err(Error::Absent {
            what: "the message has no code block".into(),
            hint: "a code block begins and ends with a line of three backticks".into(),
        });
    }
    let mut files = Vec::new();
    for NamedBlock { block, path, note, is_guarded } in blocks {
        let is_refused = is_guarded
            && !allowed.allowed_guarded_files.iter().any(|name| name.trim_start_matches("./") == path);
        // A message that only mentions a file may show just a part of it, so the block must not replace the file.
        let existing = if block.is_only_mentioned { ExistingFilePolicy::Keep } else { allowed.existing_file };
        // If one file cannot be written, still write and report the others.
        let (outcome, problem) = match is_refused {
            true => (
                ExtractOutcome::Refused,
                format!(
                    "it changes which programs run, or what agents are told; `--allow {path}` writes it anyway"
                ),
            ),
            false => match write_extracted_file(&dir, &path, block.text.as_bytes(), existing, mode) {
                Ok(outcome) => (outcome, String::new()),
                Err(error) => (ExtractOutcome::Failed, error.to_string()),
            },
        };
        let is_only_mentioned = outcome == ExtractOutcome::Exists && block.is_only_mentioned;
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
    let is_left_out = |file: &&ExtractedFile| {
        matches!(file.outcome, ExtractOutcome::Exists | ExtractOutcome::Refused | ExtractOutcome::Failed)
    };
    let left_out = files.iter().filter(is_left_out).count();
    Ok(ExtractReport { folder, files, left_out })
}

pub fn read_message_to_extract_from(world: &World, named: &Path) -> Result<String> {
    let bytes = match named.to_str() {
        Some("-") => crate::input::read_stdin(MAX_EXTRACTED_MESSAGE_BYTES)?,
        _ => store::read_file_named_by_user(&world.require_cwd()?.join(named), MAX_EXTRACTED_MESSAGE_BYTES)?,
    };
    String::from_utf8(bytes).map_err(|_| Error::Usage {
        what: "the message is not UTF-8".into(),
        hint: "a message must be text".into(),
    })
}

/// Writes one file below `dir`, without following links.
fn write_extracted_file(
    dir: &Dir,
    path: &str,
    text: &[u8],
    existing: ExistingFilePolicy,
    mode: WriteMode,
) -> Result<ExtractOutcome> {
    let known = match dir.read_file(path, MAX_EXTRACTED_MESSAGE_BYTES) {
        Err(store::Error::Absent { .. }) => None,
        bytes => Some(bytes?),
    };
    let outcome = match (&known, existing) {
        (None, _) => ExtractOutcome::Created,
        (Some(known), _) if known == text => ExtractOutcome::Same,
        (Some(_), ExistingFilePolicy::Keep) => ExtractOutcome::Exists,
        (Some(_), ExistingFilePolicy::Replace) => ExtractOutcome::Replaced,
    };
    if mode == WriteMode::DryRun || matches!(outcome, ExtractOutcome::Same | ExtractOutcome::Exists) {
        return Ok(outcome);
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let replaced = match folder {
        "" => dir.replace_if_unchanged(name, known.as_deref(), text)?,
        folder => {
            dir.create_subfolder_by_umask(folder)?.replace_if_unchanged(name, known.as_deref(), text)?
        }
    };
    // If the file was not replaced, another program has changed it in the meantime.
    Ok(if replaced == ReplaceOutcome::Done { outcome } else { ExtractOutcome::Exists })
}

/// Describes the result, for example `3 files written, 1 left out`.
pub fn describe_report(report: &ExtractReport, mode: WriteMode) -> String {
    let written = report
        .files
        .iter()
        .filter(|file| matches!(file.outcome, ExtractOutcome::Created | ExtractOutcome::Replaced))
        .count();
    let would = if mode == WriteMode::DryRun { "would be " } else { "" };
    let left = if report.left_out == 0 { String::new() } else { format!(", {} left out", report.left_out) };
    format!("{} {would}written{left}", count_with_noun(written, "file"))
}
