use super::OpenReason::{
    Edited, EditedForError, Error, FailingFolder, LastUsed, NotEdited, Step, Uncommitted, Used,
};
use super::*;

/// Each tuple contains a reason, the number of records since the file was last used, and the file's path.
fn files(found: &[(OpenReason, u64, &'static str)]) -> Vec<FileToOpen<'static>> {
    found.iter().map(|&(reason, age, path)| FileToOpen { reason, age, path }).collect()
}

#[test]
fn files_come_in_the_order_of_their_reasons() {
    type Named = (OpenReason, u64, &'static str);
    let cases: [(&[Named], &[&str]); 8] = [
        (&[(Edited, 2, "c"), (Uncommitted, 3, "old"), (LastUsed, 1, "b"), (Step, 9, "a")], &["a", "b", "c"]),
        // A file that is still to be edited is listed instead of files that were already edited.
        (&[(Edited, 2, "c"), (NotEdited, 99, "b"), (LastUsed, 1, "a")], &["a", "b"]),
        (&[(Edited, 7, "a"), (Edited, 3, "b"), (Used, 1, "c")], &["b", "a"]),
        (&[(Used, 7, "b"), (LastUsed, 4, "a"), (Uncommitted, 1, "c")], &["a", "b"]),
        (
            &[(FailingFolder, 9, "c"), (FailingFolder, 8, "b"), (FailingFolder, 7, "a"), (Edited, 1, "d")],
            &["a", "b", "d"],
        ),
        (&[(Uncommitted, 2, "b"), (Uncommitted, 1, "a")], &["a", "b"]),
        (&[(FailingFolder, 1, "a"), (Error, 1, "b")], &["b"]),
        (&[(FailingFolder, 1, "c"), (EditedForError, 1, "b"), (Error, 9, "a")], &["a", "b"]),
    ];
    for (found, expected) in cases {
        assert_eq!(paths_by_reason(files(found)), expected);
    }
}

#[test]
fn files_used_long_ago_are_not_opened_first() {
    type Named = (OpenReason, u64, &'static str);
    let cases: [(&[Named], &[&str]); 5] = [
        // If the step or the error names a file, its age does not matter.
        (&[(Step, 300, "a"), (Edited, 25, "b"), (Edited, 26, "c")], &["a", "b"]),
        // The error names `a`. The edited file `c` is dropped because it was used more than five records ago.
        (&[(Error, 300, "a"), (Edited, 5, "b"), (Edited, 6, "c")], &["a", "b"]),
        // A file used since the last message is dropped if it was used more than five records ago.
        (&[(LastUsed, 1, "a"), (LastUsed, 6, "b")], &["a"]),
        (&[(Used, 26, "b"), (Used, 25, "a")], &["a"]),
        // If all files are too old, the two most recently used ones are named anyway.
        (&[(Used, 90, "b"), (Used, 99, "c"), (Used, 80, "a")], &["a", "b"]),
    ];
    for (found, expected) in cases {
        assert_eq!(paths_by_reason(files(found)), expected);
    }
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
