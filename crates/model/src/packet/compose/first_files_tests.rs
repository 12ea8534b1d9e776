use super::OpenReason::{Edited, Error, FailingFolder, LastUsed, NotEdited, Step, Uncommitted, Used};
use super::*;

#[test]
fn files_come_in_the_order_of_their_reasons() {
    type Named = (OpenReason, u64, &'static str);
    let cases: [(&[Named], &[&str]); 5] = [
        (
            &[
                (Edited, 9, "d"),
                (Uncommitted, 8, "old"),
                (Error, 2, "b"),
                (NotEdited, 1, "c"),
                (Step, 1, "a"),
            ],
            &["a", "b", "c", "d"],
        ),
        (&[(Edited, 3, "a"), (Edited, 7, "b"), (Used, 9, "c")], &["b", "a"]),
        (&[(Used, 3, "b"), (LastUsed, 2, "a"), (Uncommitted, 9, "c")], &["a", "b"]),
        (
            &[(FailingFolder, 1, "c"), (FailingFolder, 2, "b"), (FailingFolder, 3, "a"), (Edited, 9, "d")],
            &["a", "b", "d"],
        ),
        (&[(Uncommitted, 1, "b"), (Uncommitted, 2, "a")], &["a", "b"]),
    ];
    for (found, expected) in cases {
        assert_eq!(paths_by_reason(found.to_vec()), expected);
    }
    assert_eq!(paths_by_reason(vec![(FailingFolder, 1, "a"), (Error, 1, "b")]), ["b"]);
}

#[test]
fn an_error_names_a_folder() {
    for (error, path, expected) in [
        ("FAIL example.com/shop/cart/store 1.2s", "cart/store/save.go", true),
        ("FAILED (cart/store)", "cart/store/save.go", true),
        ("FAIL example.com/shop/mycart/store", "cart/store/save.go", false),
        ("FAIL example.com/shop/cart", "cart/save.go", false),
        ("2 failed", "cart/store/save.go", false),
    ] {
        assert_eq!(names_folder_of(error, path), expected, "{error}");
    }
}
