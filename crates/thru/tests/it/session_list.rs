//! Tests the columns of `thru journal --list`.

use crate::env::TestEnv;
use crate::first_week::handoffs::{ask_at, edit_at, end_at, start_at, stop_at};

#[test]
fn the_last_column_is_the_last_prompt_of_every_session() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    let prompts = ["Make the parser accept commas", "Next step, please.", "And the last one. Commit then."];
    for (minute, prompt) in prompts.iter().enumerate() {
        ask_at(&env, &format!("19:0{minute}:01"), "s1", prompt);
        edit_at(&env, &format!("19:0{minute}:02"), "s1", "src/parse.rs");
        stop_at(&env, &format!("19:0{minute}:03"), "s1", "Done.");
        let list = env.run_thru(&["journal", "--list"]).assert_ok().stdout;
        let status = env.run_thru(&["status"]).assert_ok().stdout;
        let [header, row] = list.lines().collect::<Vec<_>>()[..] else { panic!("{list}") };
        assert!(header.starts_with("session ") && header.ends_with("  last prompt"), "{list}");
        assert!(row.ends_with(prompt), "{list}");
        assert_eq!(
            row.find(prompt),
            header.find("last prompt"),
            "the header stands above its column: {list}"
        );
        assert!(status.contains(&format!("“{prompt}”")), "status names the same prompt: {status}");
    }
    end_at(&env, "19:03:00", "s1");
    let help = env.run_thru(&["journal", "--help"]).assert_ok().stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("each with its last prompt about the work, as in `thru status`"), "{help}");
}
