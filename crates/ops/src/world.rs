//! The environment of the process, as the binary passes it to this crate: variables, working directory, time and
//! user.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use harness::HARNESSES;
use jiff::Timestamp;
use model::marker::RootMarker;
use store::{FoundRoot, InstallList, Root, RootQuery, RootRules, Store, TrustRecords, UnfitRootReason};

use crate::{Error, Result};

pub struct World<'a> {
    pub read_variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// Whether any of thru's variables might be set in the environment. If not, hooks do not look up the variable of
    /// each setting.
    pub has_variables: bool,
    /// The working directory, or `None` if it no longer exists or is not needed.
    pub cwd: Option<PathBuf>,
    /// The value of `--root`.
    pub root: Option<PathBuf>,
    /// The path by which a harness should call this binary.
    pub program_path: PathBuf,
    pub now: Timestamp,
    /// Formats the time of a record for the reader of this call's output. People read local times; agents and programs
    /// read UTC.
    pub time_for_reader: fn(&str) -> String,
    /// The effective user. Folders of other users are not trusted.
    pub user_id: u32,
}

/// The variable through which `thru gate run` tells a launched command where to write its output.
pub const OUTPUT_VARIABLE: &str = "THROUGHLINE_OUTPUT";

impl World<'_> {
    /// Returns whether `thru gate run` launched this process or one of its ancestors.
    pub fn is_inside_gate_run_launch(&self) -> bool {
        (self.read_variable)(OUTPUT_VARIABLE).is_some()
    }

    /// Returns the value of a variable if it is an absolute path. A relative path would mean something only in the
    /// shell where the variable was set.
    pub fn absolute_path_variable(&self, name: &str) -> Option<PathBuf> {
        (self.read_variable)(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    pub fn is_variable_on(&self, name: &str) -> bool {
        (self.read_variable)(name).is_some_and(|value| !value.is_empty() && value != "0")
    }

    /// Returns the state folder, which contains the user's records on this machine and is outside every project.
    pub fn state_folder(&self) -> Option<PathBuf> {
        let state = self
            .absolute_path_variable("XDG_STATE_HOME")
            .or_else(|| Some(self.absolute_path_variable("HOME")?.join(".local/state")))?;
        Some(state.join("throughline"))
    }

    /// Returns the list of checkouts in which thru was installed.
    pub fn installs(&self) -> Option<InstallList> {
        self.state_folder().map(InstallList::new)
    }

    pub fn trust_records(&self) -> Option<TrustRecords> {
        let state = self.state_folder()?;
        Some(match (self.absolute_path_variable("XDG_STATE_HOME"), self.absolute_path_variable("HOME")) {
            (None, Some(home)) => TrustRecords::in_default_state_folder(state, self.user_id, home),
            _ => TrustRecords::new(state, self.user_id),
        })
    }

    pub fn require_trust_records(&self) -> Result<TrustRecords> {
        self.trust_records().ok_or_else(|| Error::Refused {
            what:
                "neither HOME nor XDG_STATE_HOME is set, so there is no place to record which roots are trusted"
                    .into(),
            hint: "set HOME to your home folder".into(),
        })
    }

    /// Returns whether the root is trusted on this machine. Returns false if that cannot be determined.
    pub fn is_trusted(&self, marker: &RootMarker, root: &Path) -> bool {
        self.trust_records().is_some_and(|trust| trust.is_trusted(&marker.project_id, root).unwrap_or(false))
    }

    /// Returns the folder that contains the user's settings for thru and other programs.
    pub fn user_config_folder(&self) -> Option<PathBuf> {
        self.absolute_path_variable("XDG_CONFIG_HOME")
            .or_else(|| Some(self.absolute_path_variable("HOME")?.join(".config")))
    }

    pub fn user_settings_file(&self) -> Option<PathBuf> {
        Some(self.user_config_folder()?.join("throughline/config.toml"))
    }

    /// Finds the root for a command at the terminal. If the search rules exclude the root in the current folder,
    /// returns an error that says so, because otherwise the user would be told that there is no root.
    pub fn find_root(&self) -> Result<FoundRoot> {
        let explicit = self.explicit_root();
        let starts = if explicit.is_some() { Vec::new() } else { vec![self.require_cwd()?] };
        let found = self.find_root_from(explicit.as_deref(), &starts)?;
        if let FoundRoot::Unmarked(root) = &found
            && root.path.join(store::layout::STORE_FOLDER).join(store::layout::MARKER_FILE).exists()
        {
            self.refuse_unfit_root(root)?;
        }
        Ok(match found {
            FoundRoot::Marked { root, store, marker } => FoundRoot::Marked {
                store: self.with_machine_records(store, &marker, &root.path),
                root,
                marker,
            },
            unmarked => unmarked,
        })
    }

    /// Adds this machine's records about the store. Without them, nothing in the store may run.
    pub fn with_machine_records(&self, mut store: Store, marker: &RootMarker, root: &Path) -> Store {
        store.add_machine_records(self.state_folder().as_deref(), &marker.project_id, root);
        store
    }

    pub fn find_root_from(
        &self,
        explicit: Option<&Path>,
        start_folders: &[&Path],
    ) -> store::Result<FoundRoot> {
        self.with_root_rules(|rules| {
            store::find_root(&RootQuery { rules: *rules, explicit_root: explicit, start_folders })
        })
    }

    /// Returns why a folder must not be a root. Returns `None` if the user named a root explicitly.
    pub fn why_unfit_root(&self, root: &Root) -> Option<UnfitRootReason> {
        if self.explicit_root().is_some() {
            return None;
        }
        self.with_root_rules(|rules| {
            store::why_unfit_root(&root.path, rules).filter(|_| !(rules.is_allowed_by_user)(&root.path))
        })
    }

    /// Returns an error if a folder must not be a root, unless the user named a root explicitly.
    pub fn refuse_unfit_root(&self, root: &Root) -> Result<()> {
        let Some(why) = self.why_unfit_root(root) else { return Ok(()) };
        let path = root.path.display();
        Err(Error::Refused {
            what: format!("{path}: this folder is not used as a root: {why}"),
            hint: format!(
                "name the folder of your project with --root, or allow this one in your own settings{}: [roots] allow = [\"{path}\"]",
                self.user_settings_file().map_or(String::new(), |file| format!(" ({})", file.display()))
            ),
        })
    }

    /// If the rules exclude the nearest root in the current folder or above it, returns that root and the reason. Error
    /// messages use this to explain why no root was found.
    pub fn excluded_root(&self) -> Option<(PathBuf, String)> {
        self.excluded_root_at_or_above(self.cwd.as_deref()?)
    }

    /// Like [`World::excluded_root`], for another folder than the current one.
    pub fn excluded_root_at_or_above(&self, folder: &Path) -> Option<(PathBuf, String)> {
        let is_marked =
            |dir: &&Path| dir.join(store::layout::STORE_FOLDER).join(store::layout::MARKER_FILE).exists();
        let dir = folder.ancestors().find(is_marked)?;
        let why = self.with_root_rules(|rules| store::why_unfit_root(dir, rules));
        let why = why.map_or_else(
            || {
                "another repository or another owner's folder lies between it and the current folder"
                    .to_owned()
            },
            |why| why.to_string(),
        );
        Some((dir.to_owned(), why))
    }

    fn with_root_rules<T>(&self, then: impl FnOnce(&RootRules) -> T) -> T {
        let home = self.absolute_path_variable("HOME");
        let allows = |folder: &Path| crate::project::settings::allows_root(self, folder);
        then(&RootRules { user: self.user_id, home: home.as_deref(), is_allowed_by_user: &allows })
    }

    /// Returns `--root`, or else `$THROUGHLINE_ROOT`.
    pub fn explicit_root(&self) -> Option<PathBuf> {
        let named = self.root.clone().or_else(|| (self.read_variable)("THROUGHLINE_ROOT").map(PathBuf::from));
        named.filter(|path| !path.as_os_str().is_empty())
    }

    pub fn require_cwd(&self) -> Result<&Path> {
        self.cwd.as_deref().ok_or_else(|| Error::Refused {
            what: "the working directory no longer exists".into(),
            hint: "change to a folder that exists, or name the project with --root".into(),
        })
    }

    /// Returns the harness that started this process, if its variables are set.
    pub fn calling_harness(&self) -> Option<&'static str> {
        let inside = |names: &[&str]| names.iter().any(|name| (self.read_variable)(name).is_some());
        HARNESSES.iter().find(|harness| inside(harness.marker_variables)).map(|harness| harness.name)
    }
}

impl std::fmt::Debug for World<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World")
            .field("cwd", &self.cwd)
            .field("root", &self.root)
            .field("now", &self.now)
            .finish()
    }
}
