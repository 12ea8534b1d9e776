//! Finds file names in a person's text.

/// More than a plan names.
const MOST: usize = 64;
const LONGEST: usize = 80;

/// Returns the last parts of paths, `parse.rs` for `src/parse.rs:12`, each once.
pub(super) fn of_files(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || "()[]{}<>\"'`,;:*|=/\\".contains(c)) {
        let name = word.trim_end_matches(['.', '!', '?']);
        if is_file(name) && names.len() < MOST && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// A stem, and an extension of a few letters that is not a number.
fn is_file(name: &str) -> bool {
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    name.len() <= LONGEST
        && (1..=8).contains(&ending.len())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && ending.bytes().any(|byte| byte.is_ascii_lowercase())
        && stem.bytes().any(|byte| byte.is_ascii_alphanumeric())
        && !ending.as_bytes()[0].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_from_other_words() {
        let plan = "Edit `cmd/cli/hook_registry.go` (line 12) and **src/a.rs:3**, then b_test.py. Since v1.2 and e.g. 3.5 \
                    it is src/a.rs! See https://example.com/x.md and obj.Method().";
        assert_eq!(
            of_files(plan),
            ["hook_registry.go", "a.rs", "b_test.py", "e.g", "example.com", "x.md", "obj.Method"]
        );
        assert_eq!(of_files("").len(), 0);
        assert_eq!(of_files(&(0..200).map(|i| format!("f{i}.rs ")).collect::<String>()).len(), MOST);
    }
}
