//! Finds the command line that a shell is given as an argument.

/// Returns `cargo test` for `bash -lc 'cargo test'`; `None` if the words do not start a shell with a command line.
pub fn script_of(words: &[String]) -> Option<&str> {
    let (program, arguments) = words.split_first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    if !["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"].contains(&name) {
        return None;
    }
    let (mut takes_line, mut arguments) = (false, arguments.iter());
    loop {
        let argument = arguments.next()?;
        let flags = argument.strip_prefix(['-', '+']).filter(|flags| !flags.is_empty());
        match flags {
            None if takes_line => return Some(argument),
            // The shell is given the file of a script.
            None => return None,
            Some(long) if long.starts_with('-') => {}
            Some(flags) => {
                takes_line |= argument.starts_with('-') && flags.contains('c');
                // The next word is an option's value, as in `-o pipefail`.
                if flags.ends_with('o') {
                    arguments.next();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::script_of;

    #[test]
    fn a_shell_is_not_the_command() {
        let rows: &[(&[&str], Option<&str>)] = &[
            (&["sh", "-c", "make test"], Some("make test")),
            (&["/bin/bash", "-lc", "make test"], Some("make test")),
            (&["bash", "-euo", "pipefail", "-c", "make test", "arg0"], Some("make test")),
            (&["bash", "--norc", "-c", "-e", "make test"], Some("make test")),
            (&["zsh", "-ic", "make test"], Some("make test")),
            (&["sh", "check.sh"], None),
            (&["sh", "-e", "check.sh", "-c"], None),
            (&["sh", "-c"], None),
            (&["push", "-c", "x"], None),
            (&["cargo", "test"], None),
            (&[], None),
        ];
        for (words, expected) in rows {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(script_of(&words), *expected, "{words:?}");
        }
    }
}
