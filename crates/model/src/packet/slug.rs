//! The readable part of a packet's or loop's name. It consists only of ASCII characters.

const MAX_SLUG_BYTES: usize = 48;

/// Turns `fix: the Parser!` into `fix-the-parser`. If no character can be kept or transliterated, returns `packet`.
pub fn slug_of_purpose(purpose: &str) -> String {
    readable_slug(purpose).unwrap_or_else(|| "packet".to_owned())
}

/// Returns a slug that matches `[a-z0-9-]{1,48}`. Latin letters lose their accents, and Greek and Cyrillic letters
/// are transliterated. Returns `None` if the result would be empty.
pub fn readable_slug(purpose: &str) -> Option<String> {
    let mut slug = String::new();
    for c in purpose.chars().flat_map(char::to_lowercase) {
        match transliterate_letter(c) {
            Some(letters) => slug.push_str(letters),
            None if c.is_ascii_alphanumeric() => slug.push(c),
            // An apostrophe or a combining mark does not separate words.
            None if matches!(c, '\'' | '’' | '\u{300}'..='\u{36f}') => {}
            None if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            None => {}
        }
    }
    // Cut between two words if possible.
    if slug.len() > MAX_SLUG_BYTES {
        let cut = slug[..=MAX_SLUG_BYTES]
            .rfind('-')
            .filter(|at| *at > MAX_SLUG_BYTES / 2)
            .unwrap_or(MAX_SLUG_BYTES);
        slug.truncate(cut);
    }
    let slug = slug.trim_matches('-');
    (!slug.is_empty()).then(|| slug.to_owned())
}

/// Transliterates a lower-case non-ASCII letter. Returns `None` if no transliteration is known.
fn transliterate_letter(c: char) -> Option<&'static str> {
    Some(match c {
        'à' | 'á' | 'â' | 'ã' | 'ā' | 'ă' | 'ą' | 'ǎ' | 'а' | 'α' | 'ά' | 'ạ' | 'ả' | 'ấ' | 'ầ' | 'ậ' => {
            "a"
        }
        'ä' | 'æ' => "ae",
        'å' => "a",
        'б' => "b",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' | 'ð' | 'д' | 'δ' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | 'е' | 'э' | 'ε' | 'έ' | 'ế' | 'ề' | 'ệ' => {
            "e"
        }
        'ё' => "yo",
        'ф' | 'φ' => "f",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' | 'г' | 'ґ' | 'γ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì' | 'í' | 'î' | 'ï' | 'ĩ' | 'ī' | 'į' | 'ı' | 'и' | 'і' | 'ι' | 'ί' | 'η' | 'ή' => {
            "i"
        }
        'ї' => "yi",
        'ĵ' => "j",
        'ķ' | 'к' | 'κ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ł' | 'л' | 'λ' => "l",
        'м' | 'μ' => "m",
        'ñ' | 'ń' | 'ņ' | 'ň' | 'н' | 'ν' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ō' | 'ŏ' | 'ő' | 'о' | 'ο' | 'ό' | 'ω' | 'ώ' | 'ơ' | 'ố' | 'ồ' | 'ộ' => {
            "o"
        }
        'ö' | 'ø' | 'œ' => "oe",
        'п' | 'π' => "p",
        'ŕ' | 'ř' | 'р' | 'ρ' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' | 'с' | 'σ' | 'ς' => "s",
        'ß' => "ss",
        'ţ' | 'ť' | 'ŧ' | 'ț' | 'т' | 'τ' => "t",
        'ù' | 'ú' | 'û' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'у' | 'ư' => "u",
        'ü' => "ue",
        'в' | 'β' => "v",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' | 'й' | 'ы' | 'υ' | 'ύ' => "y",
        'ź' | 'ż' | 'ž' | 'з' | 'ζ' => "z",
        'ж' => "zh",
        'х' | 'χ' => "kh",
        'ц' => "ts",
        'ч' => "ch",
        'ш' => "sh",
        'щ' => "shch",
        'ю' => "yu",
        'я' => "ya",
        'є' => "ye",
        'θ' | 'þ' => "th",
        'ξ' => "x",
        'ψ' => "ps",
        'ъ' | 'ь' => "",
        _ => return None,
    })
}
