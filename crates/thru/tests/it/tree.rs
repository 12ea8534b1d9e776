//! A snapshot of a folder. A test compares two snapshots to find the files that were changed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct FileTree(BTreeMap<String, TreeNode>);

#[derive(Debug, PartialEq, Eq)]
struct TreeNode {
    what: NodeKind,
    /// The inode and the time of the last change. They reveal that a file was rewritten, even with the same bytes.
    touched: (u64, i64, i64),
}

#[derive(Debug, PartialEq, Eq)]
enum NodeKind {
    Folder,
    File(Vec<u8>),
    Link(PathBuf),
    Other,
}

impl FileTree {
    pub fn read_folder(folder: &Path) -> FileTree {
        let mut tree = FileTree(BTreeMap::new());
        tree.add_path(folder, "");
        tree
    }

    fn add_path(&mut self, path: &Path, rel: &str) {
        let meta = fs::symlink_metadata(path).unwrap();
        let what = if meta.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                let name = entry.unwrap().file_name().to_string_lossy().into_owned();
                self.add_path(&path.join(&name), &format!("{rel}/{name}"));
            }
            NodeKind::Folder
        } else if meta.is_file() {
            NodeKind::File(fs::read(path).unwrap())
        } else if meta.is_symlink() {
            NodeKind::Link(fs::read_link(path).unwrap())
        } else {
            NodeKind::Other
        };
        let touched = (meta.ino(), meta.mtime(), meta.mtime_nsec());
        self.0.insert(rel.to_owned(), TreeNode { what, touched });
    }

    /// Returns the differences in `later`. `+` marks a new file, `-` a missing one, and `~` one that was changed or
    /// rewritten with the same bytes.
    pub fn changes_to(&self, later: &FileTree) -> Vec<String> {
        let gone = self.0.keys().filter(|rel| !later.0.contains_key(*rel)).map(|rel| format!("-{rel}"));
        let new = later.0.iter().filter_map(|(rel, node)| match self.0.get(rel) {
            None => Some(format!("+{rel}")),
            Some(before) if before != node => Some(format!("~{rel}")),
            Some(_) => None,
        });
        gone.chain(new).collect()
    }

    /// Like [`FileTree::changes_to`], but without files that were rewritten with the same bytes.
    pub fn content_changes_to(&self, later: &FileTree) -> Vec<String> {
        let is_other = |change: &String| {
            let rel = &change[1..];
            self.0.get(rel).map(|node| &node.what) != later.0.get(rel).map(|node| &node.what)
        };
        self.changes_to(later).into_iter().filter(is_other).collect()
    }

    /// Returns the files that contain `text`. Tests use this for text that must not reach any file.
    pub fn files_containing(&self, text: &str) -> Vec<&str> {
        let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        let hit = |node: &TreeNode| matches!(&node.what, NodeKind::File(bytes) if holds(bytes));
        self.0.iter().filter(|(_, node)| hit(node)).map(|(rel, _)| rel.as_str()).collect()
    }

    #[track_caller]
    pub fn assert_unchanged(&self, later: &FileTree, about: &str) {
        let changes = self.changes_to(later);
        assert!(changes.is_empty(), "{about}: {changes:#?}");
    }
}
