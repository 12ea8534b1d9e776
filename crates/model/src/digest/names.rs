//! Finds file names in a person's text.

const MAX_NAMES: usize = 64;

const MAX_NAME_BYTES: usize = 80;

/// Returns the distinct file names in `text`, without folders and line numbers: `parse.rs` for `src/parse.rs:12`.
pub(super) fn file_names_in(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || "()[]{}<>\"'`,;:*|=/\\".contains(c)) {
        let name = word.trim_end_matches(['.', '!', '?']);
        if looks_like_file(name) && names.len() < MAX_NAMES && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Returns whether a word looks like a file name: a stem and a short extension that does not begin with a digit.
fn looks_like_file(name: &str) -> bool {
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    name.len() <= MAX_NAME_BYTES
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
            file_names_in(plan),
            ["hook_registry.go", "a.rs", "b_test.py", "e.g", "example.com", "x.md", "obj.Method"]
        );
        assert_eq!(file_names_in("").len(), 0);
        assert_eq!(
            file_names_in(&(0..200).map(|i| format!("f{i}.rs ")).collect::<String>()).len(),
            MAX_NAMES
        );
    }
}
