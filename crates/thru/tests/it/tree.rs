//! A snapshot of a folder, to see afterwards which files were touched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Tree(BTreeMap<String, Node>);

#[derive(Debug, PartialEq, Eq)]
struct Node {
    what: What,
    /// The inode and the time of the last change. They show whether a file was rewritten, even with the same bytes.
    touched: (u64, i64, i64),
}

#[derive(Debug, PartialEq, Eq)]
enum What {
    Folder,
    File(Vec<u8>),
    Link(PathBuf),
    Other,
}

impl Tree {
    pub fn of(folder: &Path) -> Tree {
        let mut tree = Tree(BTreeMap::new());
        tree.add(folder, "");
        tree
    }

    fn add(&mut self, path: &Path, rel: &str) {
        let meta = fs::symlink_metadata(path).unwrap();
        let what = if meta.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                let name = entry.unwrap().file_name().to_string_lossy().into_owned();
                self.add(&path.join(&name), &format!("{rel}/{name}"));
            }
            What::Folder
        } else if meta.is_file() {
            What::File(fs::read(path).unwrap())
        } else if meta.is_symlink() {
            What::Link(fs::read_link(path).unwrap())
        } else {
            What::Other
        };
        let touched = (meta.ino(), meta.mtime(), meta.mtime_nsec());
        self.0.insert(rel.to_owned(), Node { what, touched });
    }

    /// Returns what differs in `later`: `+` is new, `-` is gone, `~` is changed or rewritten with the same bytes.
    pub fn changes(&self, later: &Tree) -> Vec<String> {
        let gone = self.0.keys().filter(|rel| !later.0.contains_key(*rel)).map(|rel| format!("-{rel}"));
        let new = later.0.iter().filter_map(|(rel, node)| match self.0.get(rel) {
            None => Some(format!("+{rel}")),
            Some(before) if before != node => Some(format!("~{rel}")),
            Some(_) => None,
        });
        gone.chain(new).collect()
    }

    /// Returns the same, but without files that were rewritten with the same bytes.
    pub fn other_bytes(&self, later: &Tree) -> Vec<String> {
        let is_other = |change: &String| {
            let rel = &change[1..];
            self.0.get(rel).map(|node| &node.what) != later.0.get(rel).map(|node| &node.what)
        };
        self.changes(later).into_iter().filter(is_other).collect()
    }

    /// Returns the files that contain `text`, for texts that must not reach any file.
    pub fn files_holding(&self, text: &str) -> Vec<&str> {
        let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        let hit = |node: &Node| matches!(&node.what, What::File(bytes) if holds(bytes));
        self.0.iter().filter(|(_, node)| hit(node)).map(|(rel, _)| rel.as_str()).collect()
    }

    #[track_caller]
    pub fn assert_same(&self, later: &Tree, about: &str) {
        let changes = self.changes(later);
        assert!(changes.is_empty(), "{about}: {changes:#?}");
    }
}
