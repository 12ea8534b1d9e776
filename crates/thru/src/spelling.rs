//! Expands commands that other tools write with dots. For example, `context validate.all` becomes `context validate
//! --all`.

use std::ffi::OsString;

/// Expands a command with a dot, such as `validate.all`, at the beginning of a command line. The arguments stay
/// unchanged, because a role's name may contain a dot.
pub fn expand_command(words: Vec<OsString>) -> Vec<OsString> {
    let mut spelt = Vec::with_capacity(words.len() + 2);
    let mut words = words.into_iter();
    spelt.extend(words.next());
    let mut value = false;
    for word in words.by_ref() {
        if value || word.to_string_lossy().starts_with('-') {
            // `--root` is the only global option with a value.
            value = !value && word == "--root";
            spelt.push(word);
            continue;
        }
        let group = word == "context";
        match word.to_str().and_then(split_dotted_command) {
            Some(parts) => spelt.extend(parts),
            None => spelt.push(word),
        }
        // A second command word follows only if the first word names a group of commands.
        if !group {
            break;
        }
    }
    spelt.extend(words);
    spelt
}

fn split_dotted_command(word: &str) -> Option<Vec<OsString>> {
    let (group, rest) = word.split_once('.')?;
    match (group, rest) {
        ("validate", "all") => Some(vec!["validate".into(), "--all".into()]),
        ("lifecycle", step) => Some(vec!["lifecycle".into(), step.replace('.', "-").into()]),
        ("context", rest) => {
            let inner = split_dotted_command(rest).unwrap_or_else(|| vec![rest.into()]);
            Some(std::iter::once("context".into()).chain(inner).collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_spelt_out_where_commands_stand() {
        let cases = [
            ("thru context validate.all", "thru context validate --all"),
            ("thru --json context lifecycle.save a.b", "thru --json context lifecycle save a.b"),
            ("thru context lifecycle.pre.compact", "thru context lifecycle pre-compact"),
            ("thru --root /x.y lifecycle.pre.compact", "thru --root /x.y lifecycle pre-compact"),
            ("thru context.recover a", "thru context recover a"),
            ("thru context.lifecycle.init a", "thru context lifecycle init a"),
            ("thru recover lifecycle.x", "thru recover lifecycle.x"),
            ("thru context recover lifecycle.x", "thru context recover lifecycle.x"),
            ("thru lifecycle save validate.all", "thru lifecycle save validate.all"),
            ("thru journal --session a.b", "thru journal --session a.b"),
        ];
        for (typed, expected) in cases {
            let words = typed.split(' ').map(OsString::from).collect();
            let spelt: Vec<String> =
                expand_command(words).into_iter().map(|word| word.into_string().unwrap()).collect();
            assert_eq!(spelt.join(" "), expected);
        }
    }
}
