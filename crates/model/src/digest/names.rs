//! Finds file names in a person's text.

const MAX_FILE_NAMES_FOUND: usize = 64;

const MAX_FILE_NAME_BYTES: usize = 80;

/// Returns the distinct file names in `text`, without folders or line numbers: `parse.rs` for
/// `src/parse.rs:12`.
pub(super) fn file_names_in(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || "()[]{}<>\"'`,;:*|=/\\".contains(c)) {
        let name = word.trim_end_matches(['.', '!', '?']);
        if looks_like_file(name)
            && names.len() < MAX_FILE_NAMES_FOUND
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}

/// Returns the paths and file names in `text`, without line numbers: `src/parse.rs` for `src/parse.rs:12`.
pub fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || "()[]{}<>\"'`,;:*|=".contains(c));
    let paths = words.map(|word| word.trim_end_matches(['.', '!', '?']));
    paths.filter(|path| looks_like_file(path.rsplit('/').next().unwrap_or(path))).take(MAX_FILE_NAMES_FOUND)
}

/// Words before a file name that make the file an example to follow.
const REFERENCE_PHRASES: &[&str] = &[
    "as in ",
    "based on ",
    "follow ",
    "following ",
    "like ",
    "modeled after ",
    "modeled on ",
    "pattern from ",
    "pattern in ",
    "pattern of ",
    "refer to ",
    "reference ",
    "reference: ",
    "same as ",
    "see ",
    "similar to ",
];

/// Words after a file name that make the file an example to follow.
const REFERENCE_ENDINGS: &[&str] = &[
    "(reference",
    "as a model",
    "as a pattern",
    "as a reference",
    "as a template",
    "as an example",
    "as reference",
    "for reference",
];

/// Words that ask for a change. If one of them comes before a file name, the user wants that file to be edited.
const CHANGE_WORDS: &[&str] = &[
    "add",
    "change",
    "create",
    "edit",
    "extend",
    "fix",
    "implement",
    "modify",
    "move",
    "refactor",
    "remove",
    "rename",
    "replace",
    "rewrite",
    "update",
    "write",
];

/// A phrase that is more than this many bytes away from a file name is assumed not to be about the file.
const MAX_BYTES_FROM_PHRASE_TO_FILE_NAME: usize = 60;

/// Returns whether `text` names a file only as an example to follow, as in "follow the pattern in `gemini.go`".
pub fn is_only_reference(text: &str, name: &str) -> bool {
    let small = text.to_lowercase();
    let name = name.to_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mentions = small.match_indices(&name).map(|(at, _)| (&small[..at], &small[at + name.len()..]));
    let mut mentions = mentions
        .filter(|(before, after)| {
            !before.ends_with(is_part) && !after.trim_start_matches('.').starts_with(char::is_alphanumeric)
        })
        .peekable();
    mentions.peek().is_some() && mentions.all(|(before, after)| is_example_to_follow(before, after))
}

/// Returns whether the text around a file's name makes the file an example to follow. The text is in lower case.
fn is_example_to_follow(before: &str, after: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before);
    let sentence = line.rsplit([';', '!', '?']).next().unwrap_or(line).rsplit(". ").next().unwrap_or(line);
    let is_word_start = |at: usize| !sentence[..at].ends_with(char::is_alphanumeric);
    let is_wish = |at: usize| ["would ", "'d ", "’d "].iter().any(|word| sentence[..at].ends_with(word));
    let ends = REFERENCE_PHRASES.iter().flat_map(|phrase| {
        sentence
            .match_indices(phrase)
            .filter(|(at, _)| is_word_start(*at) && !is_wish(*at))
            .map(|(at, found)| at + found.len())
    });
    let is_introduced = ends.max().is_some_and(|end| {
        let between = &sentence[end..];
        let mut words = between.split(|c: char| !c.is_alphanumeric());
        between.len() <= MAX_BYTES_FROM_PHRASE_TO_FILE_NAME && !words.any(|word| CHANGE_WORDS.contains(&word))
    });
    let rest = after.lines().next().unwrap_or_default();
    let rest = rest.trim_start_matches(|c: char| c != '(' && !c.is_alphanumeric());
    is_introduced || REFERENCE_ENDINGS.iter().any(|ending| rest.starts_with(ending))
}

/// Returns whether a word looks like a file name: a stem and a short extension that does not begin with a digit.
fn looks_like_file(name: &str) -> bool {
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    name.len() <= MAX_FILE_NAME_BYTES
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
    fn files_that_are_only_examples() {
        for (text, expected) in [
            ("Follow the pattern in `cmd/cli/gemini.go`.", true),
            ("Add the hooks (see gemini.go:12) to opencode.go", true),
            ("Implement it like gemini.go", true),
            ("Add opencode.go, based on agent/gemini.go", true),
            ("Use gemini.go as a reference", true),
            ("- `gemini.go` (reference)", true),
            ("Update gemini.go", false),
            ("I would like gemini.go to be faster", false),
            ("Follow the plan and update gemini.go", false),
            ("See below. Then gemini.go", false),
            ("Follow gemini.go.\nAlso fix gemini.go", false),
            ("Follow the pattern in mygemini.go", false),
            ("Follow the pattern in gemini.go.tmpl", false),
        ] {
            assert_eq!(is_only_reference(text, "gemini.go"), expected, "{text}");
        }
    }

    #[test]
    fn files_are_told_from_other_words() {
        let plan = "Edit `cmd/cli/hook_registry.go` (line 12) and **src/a.rs:3**, then b_test.py. Since v1.2 and e.g. 3.5 \
                    it is src/a.rs! See https://example.com/x.md and obj.Method().";
        assert_eq!(
            file_names_in(plan),
            ["hook_registry.go", "a.rs", "b_test.py", "e.g", "example.com", "x.md", "obj.Method"]
        );
        assert_eq!(
            paths_in(plan).collect::<Vec<_>>(),
            [
                "cmd/cli/hook_registry.go",
                "src/a.rs",
                "b_test.py",
                "e.g",
                "src/a.rs",
                "//example.com/x.md",
                "obj.Method"
            ]
        );
        assert_eq!(file_names_in("").len(), 0);
        assert_eq!(
            file_names_in(&(0..200).map(|i| format!("f{i}.rs ")).collect::<String>()).len(),
            MAX_FILE_NAMES_FOUND
        );
    }
}
