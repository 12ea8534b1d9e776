//! Just enough of an argument parser: flags and options are taken out, and what is left is an error.

use anyhow::{Result, bail};

#[derive(Debug)]
pub struct Args {
    words: Vec<String>,
}

impl Args {
    pub fn from_env() -> Self {
        Self { words: std::env::args().skip(1).collect() }
    }

    pub fn of(words: &[&str]) -> Self {
        Self { words: words.iter().map(|&word| word.to_owned()).collect() }
    }

    pub fn none() -> Self {
        Self::of(&[])
    }

    /// The next word, whatever it is.
    pub fn word(&mut self) -> Option<String> {
        (!self.words.is_empty()).then(|| self.words.remove(0))
    }

    pub fn flag(&mut self, name: &str) -> bool {
        let before = self.words.len();
        self.words.retain(|word| word != name);
        self.words.len() != before
    }

    /// `--name VALUE` or `--name=VALUE`.
    pub fn option(&mut self, name: &str) -> Result<Option<String>> {
        let glued = format!("{name}=");
        if let Some(at) = self.words.iter().position(|word| word.starts_with(&glued)) {
            return Ok(Some(self.words.remove(at)[glued.len()..].to_owned()));
        }
        let Some(at) = self.words.iter().position(|word| word == name) else { return Ok(None) };
        if at + 1 >= self.words.len() {
            bail!("{name} needs a value");
        }
        self.words.remove(at);
        Ok(Some(self.words.remove(at)))
    }

    /// Everything that is left, for a helper that runs another command.
    pub fn rest(self) -> Vec<String> {
        self.words
    }

    pub fn finish(self) -> Result<()> {
        match self.words.first() {
            Some(word) => bail!("unexpected argument: {word} (see `cargo xtask help`)"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Args;

    #[test]
    fn options_and_flags_are_taken_in_any_order() {
        let mut given = Args::of(&["--quick", "--rounds", "7", "--bin=/x"]);
        assert_eq!(given.option("--bin").unwrap().as_deref(), Some("/x"));
        assert_eq!(given.option("--rounds").unwrap().as_deref(), Some("7"));
        assert!(given.flag("--quick"));
        assert!(!given.flag("--quick"));
        assert!(given.finish().is_ok());
    }

    #[test]
    fn what_is_left_is_an_error() {
        assert!(Args::of(&["--nonsense"]).finish().is_err());
        assert!(Args::of(&["--rounds"]).option("--rounds").is_err());
    }
}
