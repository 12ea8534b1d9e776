/// Parses the heading of a phase into its number and name, such as 2 and `Name` for `Phase 2: Name`. Returns `None` for
/// any other heading.
pub fn parse_explicit_phase_heading(text: &str) -> Option<(Option<u32>, String)> {
    let text = text.trim().trim_start_matches(['*', '_', ' ']);
    // An icon may come before the first word.
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let text = without_chapter_number(text);
    if let Some((number, name)) = short_milestone(text) {
        return Some((Some(number), name.to_owned()));
    }
    if is_track_heading(text) {
        return Some((None, text.to_owned()));
    }
    let lower = text.to_lowercase();
    const PHASE_WORDS: [&str; 12] = [
        "phase",
        "wave",
        "round",
        "milestone",
        "stage",
        "sprint",
        "iteration",
        "part",
        "fase",
        "etapa",
        "阶段",
        "этап",
    ];
    let word = PHASE_WORDS.into_iter().find(|word| lower.starts_with(word))?;
    let after = text.get(word.len()..)?;
    let rest = after.trim_start_matches([' ', '#', '-']);
    // `Phases of the work` and `Partial results` are not phases.
    if after.starts_with(char::is_alphabetic) {
        return None;
    }
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let behind = &rest[digits.len()..];
    let number: u32 = digits.parse().ok()?;
    match behind.chars().next() {
        // `Phase 2.5` and `Phase 2b` are phases but get a new number.
        Some(c)
            if c.is_alphanumeric() || c == '.' && behind[1..].starts_with(|c: char| c.is_ascii_digit()) =>
        {
            Some((None, text.to_owned()))
        }
        _ => {
            let name = behind.trim_start_matches(['*', '_']).trim_start();
            let name = name.trim_start_matches([':', '—', '–', '-', '.', '|', ')']).trim_start();
            Some((Some(number), name.trim_end_matches(['*', '_']).to_owned()))
        }
    }
}

/// Returns whether a heading such as `Phase 2 Success:` only mentions a phase. In such a heading, no separator follows
/// the number.
pub fn only_mentions_phase(heading: &str) -> bool {
    let Some(at) = heading.find(|c: char| c.is_ascii_digit()) else { return false };
    let behind = heading[at..].trim_start_matches(|c: char| c.is_ascii_digit());
    behind.starts_with(' ') && behind.trim_start().starts_with(char::is_alphanumeric)
}

/// Removes the chapter number from `8. Phase 2: Name`.
fn without_chapter_number(text: &str) -> &str {
    match text.split_once(". ") {
        Some((number, rest)) if number.len() < 3 && number.bytes().all(|b| b.is_ascii_digit()) => {
            rest.trim_start()
        }
        _ => text,
    }
}

/// Parses `M8 — Name` or `M8: Name` into the number and the name.
fn short_milestone(text: &str) -> Option<(u32, &str)> {
    let rest = text.strip_prefix('M')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok().filter(|_| digits < 3)?;
    let behind = rest[digits..].trim_start();
    // A heading such as `M3-M7` is a range and not a milestone.
    let name = behind.strip_prefix([':', '—', '–']).or_else(|| behind.strip_prefix("- "))?;
    Some((number, name.trim()))
}

/// Returns whether a heading is a track, such as `Track Z-R1: Name`.
fn is_track_heading(text: &str) -> bool {
    let Some((word, rest)) = text.split_once(' ') else { return false };
    let name = rest.split([':', ' ']).next().unwrap_or_default();
    word.eq_ignore_ascii_case("track")
        && (1..=8).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit())
        && rest[name.len()..].trim_start().starts_with([':', '—', '–', '-'])
}
