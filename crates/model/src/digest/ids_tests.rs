use proptest::prelude::*;

use super::*;

fn serialize_ids(ids: &[u64]) -> String {
    serialize(ids, serde_json::value::Serializer).unwrap().as_str().unwrap().to_owned()
}

#[test]
fn what_is_written_is_read() {
    for ids in [&[][..], &[0], &[1, u64::MAX], &[0x0123_4567_89ab_cdef, 7, 7]] {
        assert_eq!(parse_ids(serialize_ids(ids).as_bytes()).unwrap(), ids);
    }
    assert_eq!(serialize_ids(&[10, u64::MAX]), "000000000000000affffffffffffffff");
}

proptest! {
    #[test]
    fn any_ids_are_read_as_written(ids: Vec<u64>) {
        let text = serialize_ids(&ids);
        prop_assert_eq!(&text, &ids.iter().map(|id| format!("{id:016x}")).collect::<String>());
        prop_assert_eq!(parse_ids(text.as_bytes()), Some(ids));
    }

    #[test]
    fn one_wrong_byte_is_an_error(ids: [u64; 3], at in 0..3 * DIGITS_PER_ID, wrong: u8) {
        let mut text = serialize_ids(&ids).into_bytes();
        prop_assume!(!HEX.contains(&wrong));
        text[at] = wrong;
        prop_assert_eq!(parse_ids(&text), None);
    }
}

#[test]
fn anything_else_is_an_error() {
    let one = serialize_ids(&[1]);
    for text in
        [&one[1..], "000000000000000A", "+00000000000001a", "0x0000000000001a", "000000000000001\u{e9}"]
    {
        assert_eq!(parse_ids(text.as_bytes()), None, "{text}");
    }
    assert!(deserialize(serde_json::json!([1, 2])).is_err());
}

#[test]
fn a_set_tells_numbers_apart() {
    let mut set = IdSet::default();
    assert!((0..3_000).all(|number| set.insert(number)));
    assert!((0..3_000).all(|number| !set.insert(number)));
}
