//! Composes the text that is measured at a cut: the briefs that a hook would send, and the output of `thru pickup`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use model::brief::{BriefMaterial, BriefOccasion};
use model::digest::Digest;
use model::event::EventName;
use model::journal::JournalRecord;
use model::redact;
use model::score::ScoringSettings;
use ops::World;
use ops::features::packets::{handoff, pickup};

use super::cut::{RecallSession, SessionCut};

/// A purpose without information, so that the goal must come from the session.
const EMPTY_PURPOSE: &str = "go on";

/// A session up to a cut: its transcript in a separate folder, and its digest.
#[derive(Debug)]
pub struct SessionUpToCut {
    folder: tempfile::TempDir,
    transcript: PathBuf,
    digest: Digest,
}

impl SessionUpToCut {
    pub fn before_cut(session: &RecallSession, cut: &SessionCut) -> Result<SessionUpToCut> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let transcript = folder.path().join(format!("{}.jsonl", session.name));
        std::fs::write(&transcript, session.lines[..cut.line].join(&b'\n'))
            .with_context(|| format!("cannot write {}", transcript.display()))?;
        let digest = ops::session::brief::digest_of_transcript(
            &transcript,
            folder.path(),
            redact::RedactOptions::default(),
            Timestamp::UNIX_EPOCH,
        )?;
        Ok(SessionUpToCut { folder, transcript, digest })
    }

    /// Returns the brief for an agent that has no summary.
    pub fn brief_alone(&self, size: usize, scoring: Option<&ScoringSettings>) -> String {
        compose_brief(&self.digest, size, scoring)
    }

    /// Returns the brief for an agent that also sees the harness's summary.
    pub fn brief_beside_summary(
        &self,
        summary: &str,
        size: usize,
        scoring: Option<&ScoringSettings>,
    ) -> String {
        compose_brief(&self.digest_after_summary(summary), size, scoring)
    }

    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Returns the digest as it is after the harness has written `summary`.
    pub fn digest_after_summary(&self, summary: &str) -> Digest {
        let mut digest = self.digest.clone();
        let told = JournalRecord {
            event: EventName::Summary.name().into(),
            text: summary.into(),
            ..JournalRecord::default()
        };
        digest.fold_record(&told);
        digest
    }

    /// Returns the text that an agent gets when it picks up a packet of the session, with all sections.
    pub fn pickup_text(&self) -> Result<String> {
        let root = self.folder.path().join("project");
        std::fs::create_dir_all(&root).context("cannot create a project")?;
        let now = self.digest.last_at.parse().unwrap_or(Timestamp::UNIX_EPOCH);
        let home = self.folder.path().to_owned();
        let var = |name: &str| (name == "HOME").then(|| home.clone().into_os_string());
        let world = World {
            has_variables: false,
            read_variable: &var,
            cwd: Some(root.clone()),
            root: Some(root),
            program_path: "thru".into(),
            now,
            time_for_reader: str::to_owned,
            user_id: owner_id(&home)?,
        };
        let request = handoff::HandoffRequest {
            purpose: EMPTY_PURPOSE,
            transcript: Some(&self.transcript),
            ..Default::default()
        };
        let report = handoff::write_handoff(&world, &request).context("no packet could be written")?;
        let id = Some(report.id.as_str());
        let picked = pickup::pick_up(&world, &pickup::PickupRequest { id, ..Default::default() })
            .context("the packet cannot be picked up")?;
        // The path of the temporary folder must not influence the result.
        Ok(picked.prompt.replace(&*self.folder.path().to_string_lossy(), ""))
    }
}

fn compose_brief(digest: &Digest, size: usize, scoring: Option<&ScoringSettings>) -> String {
    let occasion = BriefOccasion::Compacted;
    let material = BriefMaterial {
        occasion,
        digest,
        hook_problems: &[],
        missing_files: &[],
        feature_candidates: &[],
        scoring,
    };
    model::brief::compose_brief(&material, size).map(|brief| brief.text).unwrap_or_default()
}

fn owner_id(folder: &Path) -> Result<u32> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(folder.metadata().context("the temporary folder is gone")?.uid())
}
