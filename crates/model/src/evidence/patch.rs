//! Counts the files and lines that a patch changes.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchStats {
    pub files: Vec<String>,
    pub additions: u64,
    pub deletions: u64,
}

/// Reads a unified diff from git or `diff -u`.
pub fn patch_stats(patch: &str) -> PatchStats {
    let mut stats = PatchStats::default();
    // The numbers of old and new lines left in the hunk. Without them, a removed line `-- x` would look like a file
    // name.
    let (mut old, mut new) = (0_u64, 0_u64);
    let mut from = "";
    for line in patch.lines() {
        if old > 0 || new > 0 {
            match line.as_bytes().first() {
                Some(b'+') => (stats.additions, new) = (stats.additions + 1, new.saturating_sub(1)),
                Some(b'-') => (stats.deletions, old) = (stats.deletions + 1, old.saturating_sub(1)),
                Some(b'\\') => {}
                _ => (old, new) = (old.saturating_sub(1), new.saturating_sub(1)),
            }
            continue;
        }
        if let Some(hunk) = line.strip_prefix("@@ -") {
            (old, new) = parse_hunk_sizes(hunk);
        } else if let Some(name) = line.strip_prefix("--- ") {
            from = name;
        } else if let Some(name) = line.strip_prefix("+++ ") {
            let name = if name.starts_with("/dev/null") { from } else { name };
            let name = name.split('\t').next().unwrap_or_default();
            let name = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
            if !stats.files.iter().any(|known| known == name) {
                stats.files.push(name.to_owned());
            }
        }
    }
    stats
}

/// Parses `1,5 +1,7 @@`, which means five lines before and seven lines after. A missing size means one.
fn parse_hunk_sizes(hunk: &str) -> (u64, u64) {
    let size = |part: &str| part.split_once(',').map_or(1, |(_, size)| size.parse().unwrap_or(0));
    let mut parts = hunk.split(' ');
    let (old, new) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    (size(old), size(new.trim_start_matches('+')))
}
