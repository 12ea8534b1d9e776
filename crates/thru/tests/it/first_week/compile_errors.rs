//! Tests what is told about errors of a compiler: their places, without the lines that say nothing.

use super::handoffs::{ask_at, edit_at, start_at, thru_at};
use super::results_of_checks::fail_at;
use super::*;

#[test]
fn the_place_of_a_compile_error_is_told_and_its_file_is_opened_first() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Add the operator Mod.");
    edit_at(&env, "19:00:02", "s1", "src/lex.rs");
    let output = "Exit code 101\n   Compiling tinycalc v0.1.0 (/p)\nerror[E0004]: non-exhaustive patterns: `Op::Mod` not covered\n  --> src/lib.rs:15:15\n   |\n15 |         match op {\n   |               ^^ pattern `Op::Mod` not covered\n\nFor more information about this error, try `rustc --explain E0004`.\nerror: could not compile `tinycalc` (lib test) due to 1 previous error\nwarning: build failed, waiting for other jobs to finish...\nerror: could not compile `tinycalc` (lib) due to 1 previous error";
    fail_at(&env, "19:00:03", "s1", "cargo test", output);
    let brief = thru_at(&env, "19:00:04", "s1", &["brief"]).assert_ok().stdout;
    let written = thru_at(&env, "19:00:05", "s1", &["handoff", "finish Mod", "--json"]).json();
    let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
    for text in [&brief, &packet] {
        assert!(text.contains("src/lib.rs:15:15: error[E0004]: non-exhaustive patterns"), "{text}");
        for noise in ["For more information", "could not compile", "build failed, waiting"] {
            assert!(!text.contains(noise), "{noise}: {text}");
        }
    }
    assert!(packet.contains("Open first: `src/lib.rs`"), "{packet}");
}
