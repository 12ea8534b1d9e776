//! A stage's run: its folder, the outputs that are expected there, and their state.
//!
//! The folder is usually in `outputs/`. An orchestrator with its own folders may use any other folder in the project.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use memchr::memmem;
use model::checkout_path;
use model::gate::{
    self, ExpectedOutput, ExpectedOutputs, ExpectedOutputsProblem, FoundOutput, OutputScanner,
};
use model::id::Id;
use model::text::fnv_fingerprint;
use rustix::fs::{self, Mode, OFlags};

use crate::git::{self, CheckoutKind};
use crate::read::{io_error, require_regular_file};
use crate::{Dir, Durability, Error, Lock, Result, Root, Store, layout};

/// The size limit of `expected.json` and of a live-state file.
const MAX_EXPECTED_OUTPUTS_FILE_BYTES: usize = 2 * 1024 * 1024;

const MAX_SIGNATURE_BYTES: usize = 4096;

/// Inputs up to this size are compared by content. Larger ones are compared by size and time, because a hook must use
/// little memory.
const MAX_HASHED_INPUT_BYTES: usize = 1024 * 1024;

/// If an output is larger than this, a quick check reads only its end.
const QUICK_CHECK_BYTES: u64 = 64 * 1024;
const OUTPUT_TAIL_BYTES: usize = 4096;

/// How much of an output is read to check whether it is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputReadDepth {
    Whole,
    /// Read only the end of a large file, because a session start has little time.
    EndOnly,
}

/// How many bytes of the last messages of sub-agents are kept for one output.
const MAX_LAST_MESSAGES_BYTES_PER_OUTPUT: u64 = 1024 * 1024;

#[derive(Debug)]
pub struct RunFolder {
    dir: Dir,
    /// The name of the list of expected outputs. If several stages share the folder, each has its own list.
    expected_list_name: String,
}

impl Store {
    /// Returns the folder that `state/live.json` names, exactly as it is written in the file.
    pub fn read_live_run(&self) -> Result<Option<String>> {
        match self.dir().read_file(layout::LIVE_RUN_FILE, MAX_EXPECTED_OUTPUTS_FILE_BYTES) {
            Err(Error::Absent { .. }) => Ok(None),
            Err(e) => Err(e),
            Ok(bytes) => match gate::parse_live_dir(&bytes) {
                Some(dir) => Ok(Some(dir)),
                None => Err(Error::Damaged {
                    path: self.dir().path().join(layout::LIVE_RUN_FILE),
                    line: None,
                    why: "it must be {\"dir\": \"…\"}".to_owned(),
                }),
            },
        }
    }

    /// Returns the runs that were live earlier and still had open outputs when another run became live, newest first.
    pub fn read_earlier_live_runs(&self) -> Vec<String> {
        let bytes =
            self.dir().read_file(layout::LIVE_RUN_FILE, MAX_EXPECTED_OUTPUTS_FILE_BYTES).unwrap_or_default();
        gate::parse_earlier_dirs(&bytes)
    }

    /// Sets or clears the live run. `live` contains the live run and the runs that were live before it. A damaged file
    /// is renamed first, so that its content is kept.
    pub fn write_live_run(&self, live: Option<(&str, &[String])>, now: Timestamp) -> Result<()> {
        if let (Err(Error::Damaged { .. }), Some((folder, name))) =
            (self.read_live_run(), layout::LIVE_RUN_FILE.rsplit_once('/'))
        {
            self.dir().open_subfolder(folder)?.rename_damaged_aside(name, now)?;
        }
        let Some((dir, earlier)) = live else { return self.dir().remove_file(layout::LIVE_RUN_FILE) };
        let json = gate::render_live_json(dir, earlier);
        self.dir().write_at_path(layout::LIVE_RUN_FILE, &json, Durability::Synced)
    }

    /// Lists the names of all runs in `outputs/`.
    pub fn run_names(&self) -> Result<Vec<String>> {
        match self.dir().open_subfolder(layout::OUTPUTS_FOLDER) {
            Err(Error::Absent { .. }) => Ok(Vec::new()),
            dir => Ok(dir?.entries()?.into_iter().map(|entry| entry.name).collect()),
        }
    }

    /// Creates a run in `outputs/`. If the name is taken, a number is added to it.
    pub fn create_run(&self, name: &Id) -> Result<RunFolder> {
        let outputs = self.dir().create_subfolder(layout::OUTPUTS_FOLDER)?;
        for n in 1.. {
            let name = if n == 1 { name.to_string() } else { format!("{name}-{n}") };
            if outputs.create_new_folder(&name)? {
                return Ok(RunFolder::from_dir(outputs.open_subfolder(&name)?));
            }
        }
        Err(Error::Absent { path: outputs.path().to_owned() })
    }

    /// Saves the last message of a sub-agent that did not write `file`. The message is written next to the missing
    /// file. If the run is outside the store, the message is written to a folder of the same name inside the store,
    /// because hooks write only there. Earlier messages are kept above the new one.
    pub fn save_last_message(&self, run: &RunFolder, file: &str, text: &str) -> Result<()> {
        match self.path_in_outputs(run) {
            None => append_message_once(&run.dir, &layout::last_message_file_name(file), text.trim_end()),
            Some(folder) => append_message_once(
                &self.dir().create_subfolder(&folder)?,
                &layout::last_message_file_name(file),
                text.trim_end(),
            ),
        }
    }

    /// Returns the path of a sub-agent's saved last message, if there is one.
    pub fn saved_message_path(&self, run: &RunFolder, file: &str) -> Option<PathBuf> {
        let name = layout::last_message_file_name(file);
        let path = match self.path_in_outputs(run) {
            None => run.path().join(name),
            Some(folder) => self.dir().path().join(folder).join(name),
        };
        path.symlink_metadata().is_ok().then_some(path)
    }

    fn path_in_outputs(&self, run: &RunFolder) -> Option<String> {
        if run.path().starts_with(self.dir().path()) {
            return None;
        }
        let name = run.path().file_name().and_then(|name| Id::new(name.to_str()?).ok());
        Some(format!(
            "{}/{}",
            layout::OUTPUTS_FOLDER,
            name.map_or_else(|| run.lock_name(), |name| name.to_string())
        ))
    }

    /// Takes the lock that is held while a run is created.
    pub fn lock_run_creation(&self, wait: Duration) -> Result<Lock> {
        self.lock_by_path(&layout::outputs_lock_path("new"), wait)
    }

    /// Takes a run's lock, so that nothing is launched twice. `who` describes this process to other processes that wait
    /// for the lock.
    pub fn lock_run(&self, run: &RunFolder, who: &str, wait: Duration) -> Result<Lock> {
        let lock = self.lock_by_path(&layout::outputs_lock_path(&run.lock_name()), wait)?;
        lock.write_holder(who)?;
        Ok(lock)
    }

    /// Describes the process that is working in a run.
    pub fn describe_process_working_in_run(&self, run: &RunFolder) -> Option<String> {
        let bytes =
            self.dir().read_file(&layout::outputs_lock_path(&run.lock_name()), MAX_SIGNATURE_BYTES).ok()?;
        String::from_utf8(bytes).ok().filter(|who| !who.is_empty())
    }
}

impl RunFolder {
    /// Opens the folder `rel` below `base`, without following links.
    pub fn open(base: &Path, rel: &str) -> Result<RunFolder> {
        Ok(RunFolder::from_dir(Dir::open(base)?.open_subfolder(rel)?))
    }

    fn from_dir(dir: Dir) -> RunFolder {
        RunFolder { dir, expected_list_name: layout::EXPECTED_FILE.to_owned() }
    }

    /// Returns this run, but with the list of outputs that another stage expects.
    pub fn with_list_of_stage(self, stage: &Id) -> RunFolder {
        RunFolder { expected_list_name: layout::expected_file_of_stage(stage.as_str()), ..self }
    }

    pub fn list_file_name(&self) -> &str {
        &self.expected_list_name
    }

    /// Returns the lists of all stages in this folder. Lists that cannot be read are skipped.
    pub fn read_all_lists(&self) -> Vec<ExpectedOutputs> {
        let entries = self.dir.entries().unwrap_or_default();
        let lists = entries.iter().filter(|entry| gate::is_expected_outputs_file(&entry.name));
        lists.filter_map(|list| self.read_list_file(&list.name).ok()).collect()
    }

    /// Selects the list that names an output, and returns the run with this list. If no list names the output, the
    /// run keeps its present list.
    pub fn with_list_of_output(self, file: &str) -> RunFolder {
        let entries = self.dir.entries().unwrap_or_default();
        let others =
            entries.into_iter().map(|entry| entry.name).filter(|name| gate::is_expected_outputs_file(name));
        let names_it = |name: &String| {
            let list = self.read_list_file(name);
            list.is_ok_and(|list| list.outputs.iter().any(|output| output.file == file))
        };
        let found = [self.expected_list_name.clone()].into_iter().chain(others).find(names_it);
        RunFolder { expected_list_name: found.unwrap_or_else(|| self.expected_list_name.clone()), ..self }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn lock_name(&self) -> String {
        format!("{:016x}", fnv_fingerprint([self.path().as_os_str().as_encoded_bytes()]))
    }

    pub fn read_expected(&self) -> Result<ExpectedOutputs> {
        self.read_list_file(&self.expected_list_name)
    }

    /// Reads the list of a stage that is not the folder's current stage.
    pub fn read_list_of_stage(&self, stage: &Id) -> Result<ExpectedOutputs> {
        self.read_list_file(&layout::expected_file_of_stage(stage.as_str()))
    }

    fn read_list_file(&self, name: &str) -> Result<ExpectedOutputs> {
        let bytes = self.dir.read_file(name, MAX_EXPECTED_OUTPUTS_FILE_BYTES)?;
        let path = self.path().join(name);
        ExpectedOutputs::parse(&bytes).map_err(|problem| match problem {
            ExpectedOutputsProblem::Damaged { line, why } => Error::Damaged { path, line, why },
            ExpectedOutputsProblem::Foreign { why } => Error::Foreign { path, why },
        })
    }

    pub fn write_expected(&self, expected: &ExpectedOutputs) -> Result<()> {
        self.dir.write(&self.expected_list_name, &expected.to_bytes(), Durability::Synced)
    }

    pub fn write_file(&self, name: &str, text: &str, durability: Durability) -> Result<()> {
        self.dir.write(name, text.as_bytes(), durability)
    }

    pub fn append_lines(&self, name: &str, lines: &[&str]) -> Result<()> {
        self.dir.append_lines(name, lines, u64::MAX)
    }

    /// Reads an output. Returns an error if the file is larger than an output may be.
    pub fn read_output(&self, name: &str) -> Result<Vec<u8>> {
        self.dir.read_file(name, usize::try_from(gate::MAX_OUTPUT_BYTES).unwrap_or(usize::MAX))
    }

    /// Appends bytes to an output and syncs it. The file is not replaced, so that a process which has it open keeps
    /// writing to the same file.
    pub fn append_to_output(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path().join(name);
        let fd = self.dir.open_beneath(name, OFlags::WRONLY | OFlags::APPEND, Mode::empty(), "append")?;
        require_regular_file(fd.as_fd(), &path)?;
        let mut file = File::from(fd);
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|e| io_error(&e, &path, "append"))
    }

    pub fn has_file(&self, name: &str) -> bool {
        !matches!(self.dir.entry_kind(name), Err(Error::Absent { .. }))
    }

    /// Examines an output's file. An error means that its state is unknown.
    pub fn examine_output(&self, file: &str, depth: OutputReadDepth) -> Result<FoundOutput> {
        let Ok(file) = Id::new(file) else {
            return Ok(FoundOutput::Unopenable("its name leads outside the run".to_owned()));
        };
        let path = self.path().join(file.as_str());
        let fd = match self.dir.open_beneath(file.as_str(), OFlags::RDONLY, Mode::empty(), "read") {
            Ok(fd) => fd,
            Err(Error::Absent { .. }) => return Ok(FoundOutput::Missing),
            Err(Error::Refused { why, .. }) => return Ok(FoundOutput::Unopenable(why)),
            Err(e) => return Err(e),
        };
        let size = match require_regular_file(fd.as_fd(), &path) {
            Ok(size) => size,
            Err(Error::Refused { why, .. }) => return Ok(FoundOutput::Unopenable(why)),
            Err(e) => return Err(e),
        };
        if size > gate::MAX_OUTPUT_BYTES {
            return Ok(FoundOutput::Unopenable(format!(
                "it is over {} MB",
                gate::MAX_OUTPUT_BYTES / 1024 / 1024
            )));
        }
        let stat = fs::fstat(&fd).map_err(|e| Error::from_errno(e, &path, "look at"))?;
        let nanos = i32::try_from(stat.st_mtime_nsec).unwrap_or(0);
        let modified = Timestamp::new(stat.st_mtime, nanos).unwrap_or(Timestamp::UNIX_EPOCH);
        if depth == OutputReadDepth::EndOnly && size > QUICK_CHECK_BYTES {
            let mut tail = [0; OUTPUT_TAIL_BYTES];
            let got = File::from(fd).read_at(&mut tail, size - OUTPUT_TAIL_BYTES as u64);
            let got = got.map_err(|e| io_error(&e, &path, "read"))?;
            return Ok(FoundOutput::File { modified, ending: OutputScanner::ending_of_tail(&tail[..got]) });
        }
        let mut reading = OutputScanner::default();
        self.dir.each_line(file.as_str(), |number, line| reading.scan_line(number, line))?;
        Ok(FoundOutput::File { modified, ending: reading.ending() })
    }

    pub fn rename_aside(&self, name: &str, word: &str) -> Result<Option<String>> {
        self.dir.rename_aside(name, word)
    }

    /// Renames the current list to the name of the list for `stage`, because another stage becomes the current one.
    pub fn rename_list_for_stage(&self, stage: &Id) -> Result<()> {
        self.dir.rename_synced(layout::EXPECTED_FILE, &layout::expected_file_of_stage(stage.as_str()))
    }

    pub fn remove_file(&self, name: &str) -> Result<()> {
        self.dir.remove_file(name)
    }

    /// Reads a small file that thru wrote.
    pub fn read_small_file(&self, name: &str) -> Option<String> {
        String::from_utf8(self.dir.read_file(name, MAX_SIGNATURE_BYTES).ok()?).ok()
    }

    /// Opens a file in the run and locks it. Child processes inherit the lock, which is held as long as any of these
    /// processes has the file open. Returns `None` if another process holds the lock.
    pub fn open_with_inherited_lock(&self, name: &str) -> Result<Option<File>> {
        let file = match self.dir.open_beneath(name, OFlags::RDONLY, Mode::empty(), "read") {
            Ok(fd) => File::from(fd),
            Err(e) => return Err(e),
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(None),
            // On a file system without locks, there is no way to detect that another process is using the file.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(file)),
        }
    }
}

/// Appends a message unless the file already contains it, because a hook may fire twice. Keeps the file below the
/// limit.
fn append_message_once(dir: &Dir, name: &str, text: &str) -> Result<()> {
    let known = match dir
        .read_file(name, usize::try_from(MAX_LAST_MESSAGES_BYTES_PER_OUTPUT).unwrap_or(usize::MAX))
    {
        Err(Error::Absent { .. }) => Vec::new(),
        known => known?,
    };
    let known = known.trim_ascii_end();
    if known.is_empty() {
        return dir.append_lines(name, &[text], u64::MAX);
    }
    let framed = |entry: &[u8]| [MESSAGE_SEPARATOR, entry, MESSAGE_SEPARATOR].concat();
    let holds = memmem::find(&framed(known), &framed(text.as_bytes())).is_some();
    if holds || (known.len() + text.len()) as u64 + 16 > MAX_LAST_MESSAGES_BYTES_PER_OUTPUT {
        return Ok(());
    }
    dir.append_lines(name, &["\n---\n", text], u64::MAX)
}

const MESSAGE_SEPARATOR: &[u8] = b"\n\n---\n\n";

/// Returns the folder that contains the inputs of an output. All worktrees share the records of a root, so this is the
/// checkout in which the output was requested. If that worktree was removed, which happens after its work was merged,
/// this is the root's own checkout. A file is never taken from a second folder, because a deleted input must count as
/// deleted.
pub fn input_folder(root: &Root, output: &ExpectedOutput) -> PathBuf {
    match output.inputs_checkout.as_str() {
        "" => root.checkout.clone(),
        gate::ROOT_CHECKOUT => root.path.clone(),
        // Anybody may have written the record, so a folder that is not a checkout of this root is not opened.
        recorded if is_worktree_of_root(Path::new(recorded), root) => PathBuf::from(recorded),
        _ => root.path.clone(),
    }
}

fn is_worktree_of_root(folder: &Path, root: &Root) -> bool {
    match git::checkout_kind(folder) {
        Some(CheckoutKind::Worktree { main_checkout }) => {
            main_checkout == root.path || root.path.canonicalize().is_ok_and(|path| path == main_checkout)
        }
        _ => false,
    }
}

/// Returns how a record names a checkout of a root. See `ExpectedOutput::inputs_checkout`.
pub fn recorded_checkout(root: &Root, checkout: &Path) -> String {
    match checkout == root.path {
        true => gate::ROOT_CHECKOUT.to_owned(),
        false => checkout.to_string_lossy().into_owned(),
    }
}

/// Returns the inputs that do not exist in the folder.
pub fn absent_inputs<'a>(folder: &Path, inputs: &'a [String]) -> Result<Vec<&'a str>> {
    let mut absent = Vec::new();
    for (input, found) in inputs.iter().zip(find_inputs(folder, inputs)?) {
        if found.fingerprint == ABSENT_INPUT {
            absent.push(input.as_str());
        }
    }
    Ok(absent)
}

/// Returns a digest of the current inputs. It need not be cryptographic: it only detects changes, and anybody who
/// could forge an input could also write the output.
pub fn inputs_digest(folder: &Path, inputs: &[String]) -> Result<String> {
    if inputs.is_empty() {
        return Ok(String::new());
    }
    let found = find_inputs(folder, inputs)?;
    let parts: Vec<Vec<u8>> =
        found.into_iter().flat_map(|input| [input.path.into_bytes(), input.fingerprint]).collect();
    Ok(format!("fnv1a-{:016x}", fnv_fingerprint(&parts)))
}

/// Returns a digest of each input.
pub fn digests_of_inputs(folder: &Path, inputs: &[String]) -> Result<Vec<String>> {
    let digest = |input: FoundInput| format!("fnv1a-{:016x}", fnv_fingerprint([&input.fingerprint]));
    Ok(find_inputs(folder, inputs)?.into_iter().map(digest).collect())
}

struct FoundInput {
    path: String,
    fingerprint: Vec<u8>,
}

const ABSENT_INPUT: &[u8] = b"absent";

fn find_inputs(folder: &Path, inputs: &[String]) -> Result<Vec<FoundInput>> {
    let dir = Dir::open(folder)?;
    let find_input = |input: &String| -> Result<FoundInput> {
        let place = checkout_path::path_within_checkout(&dir.path().to_string_lossy(), input);
        let fingerprint = match place.is_outside {
            true => b"outside".to_vec(),
            false => input_fingerprint(&dir, &place.path)?,
        };
        Ok(FoundInput { path: place.path.into_owned(), fingerprint })
    };
    inputs.iter().map(find_input).collect()
}

fn input_fingerprint(dir: &Dir, rel: &str) -> Result<Vec<u8>> {
    let fd = match dir.open_beneath(rel, OFlags::RDONLY, Mode::empty(), "read") {
        Ok(fd) => fd,
        Err(Error::Absent { .. }) => return Ok(ABSENT_INPUT.to_vec()),
        Err(Error::Refused { .. }) => return Ok(b"refused".to_vec()),
        Err(e) => return Err(e),
    };
    let path = dir.path().join(rel);
    let stat = fs::fstat(&fd).map_err(|e| Error::from_errno(e, &path, "look at"))?;
    match require_regular_file(fd.as_fd(), &path) {
        Ok(size) if size <= MAX_HASHED_INPUT_BYTES as u64 => {
            drop(fd);
            let content = fnv_fingerprint([dir.read_file(rel, MAX_HASHED_INPUT_BYTES)?]);
            Ok(content.to_be_bytes().to_vec())
        }
        Ok(size) => Ok(format!("{size} {}.{}", stat.st_mtime, stat.st_mtime_nsec).into_bytes()),
        Err(_) => Ok(b"not a regular file".to_vec()),
    }
}

#[cfg(test)]
#[path = "outputs_tests.rs"]
mod tests;
