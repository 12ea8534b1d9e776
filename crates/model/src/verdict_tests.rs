use super::*;

/// Answers in the forms that models write. `None` means that the answer is unreadable.
const ANSWER_CASES: &[(&str, Option<Ruling>)] = &[
    // These rulings are clear.
    ("VERDICT: APPROVED", Some(Ruling::Approved)),
    ("VERDICT: APPROVED\nRISK: LOW\nISSUES: none", Some(Ruling::Approved)),
    ("verdict: approved", Some(Ruling::Approved)),
    ("**VERDICT**: APPROVED", Some(Ruling::Approved)),
    ("**VERDICT:** **REJECTED**", Some(Ruling::Rejected)),
    ("**Verdict: NEEDS_REVISION**", Some(Ruling::NeedsRevision)),
    ("__Verdict__: PASS", Some(Ruling::Pass)),
    ("- VERDICT: REJECTED\n- RISK: HIGH\n- ISSUES:\n  - no bounds check", Some(Ruling::Rejected)),
    ("* **Verdict** – Approved", Some(Ruling::Approved)),
    ("1. VERDICT: PASS\n2. TESTS: 12 passed, 0 failed", Some(Ruling::Pass)),
    ("## Verdict\n\nAPPROVED", Some(Ruling::Approved)),
    ("### VERDICT: NEEDS REVISION\n\nTask 1.2 has no acceptance.", Some(Ruling::NeedsRevision)),
    ("# Verdict\n**REJECTED** because the lock is never released.", Some(Ruling::Rejected)),
    ("| Field | Value |\n|---|---|\n| Verdict | APPROVED |\n| Risk | low |", Some(Ruling::Approved)),
    ("| VERDICT | RISK | ISSUES |\n|---|---|---|\n| REJECTED | high | 2 |", Some(Ruling::Rejected)),
    ("| File | Verdict |\n|:--|:--|\n| a.rs | APPROVED |\n| b.rs | APPROVED |", Some(Ruling::Approved)),
    ("```\nVERDICT: APPROVED\nRISK: LOW\n```", Some(Ruling::Approved)),
    ("```text\nVERDICT: FAIL\nFAILURES:\n- lexer::empty\n```", Some(Ruling::Fail)),
    ("```json\n{ \"verdict\": \"APPROVED\", \"risk\": \"low\" }\n```", Some(Ruling::Approved)),
    ("{\"verdict\":\"REJECTED\"}", Some(Ruling::Rejected)),
    ("<verdict>PASS</verdict>", Some(Ruling::Pass)),
    ("<verdict>\nFAIL\n</verdict>", Some(Ruling::Fail)),
    ("`VERDICT: APPROVED`", Some(Ruling::Approved)),
    ("VERDICT = PASS", Some(Ruling::Pass)),
    ("VERDICT - FAIL", Some(Ruling::Fail)),
    ("VERDICT — APPROVED", Some(Ruling::Approved)),
    ("VERDICT APPROVED", Some(Ruling::Approved)),
    ("Verdict: ✅ APPROVED", Some(Ruling::Approved)),
    ("🟢 **Verdict:** PASS", Some(Ruling::Pass)),
    ("VERDICT: ❌ REJECTED", Some(Ruling::Rejected)),
    ("VERDICT: [APPROVED]", Some(Ruling::Approved)),
    ("VERDICT:\nPASS", Some(Ruling::Pass)),
    ("VERDICT:\n\n- FAIL", Some(Ruling::Fail)),
    ("Final verdict: APPROVED", Some(Ruling::Approved)),
    ("My overall verdict is REJECTED.", Some(Ruling::Rejected)),
    ("I read both files. The verdict is APPROVED.", Some(Ruling::Approved)),
    ("No issues found. VERDICT: APPROVED", Some(Ruling::Approved)),
    ("Based on the above, VERDICT: PASS", Some(Ruling::Pass)),
    ("VERDICT: APPROVED RISK: LOW ISSUES: none", Some(Ruling::Approved)),
    ("VERDICT: APPROVED, no issues", Some(Ruling::Approved)),
    ("VERDICT: PASS (12 passed, 0 failed)", Some(Ruling::Pass)),
    ("VERDICT: PASS 12/12", Some(Ruling::Pass)),
    ("VERDICT: all 12 tests PASS", Some(Ruling::Pass)),
    ("VERDICT: Needs revision", Some(Ruling::NeedsRevision)),
    ("VERDICT: CHANGES REQUESTED", Some(Ruling::NeedsRevision)),
    ("VERDICT: REJECTED\n\nRead again: VERDICT: REJECTED", Some(Ruling::Rejected)),
    ("VERDICT: REJECTED if the lock stays", Some(Ruling::Rejected)),
    ("VERDICT:\n- [ ] APPROVED\n- [x] REJECTED", Some(Ruling::Rejected)),
    ("VERDICT:\n- [x] APPROVED\n- [ ] REJECTED", Some(Ruling::Approved)),
    ("APPROVED", Some(Ruling::Approved)),
    ("**PASS**\n\nEverything ran.", Some(Ruling::Pass)),
    ("I looked at the plan twice.\n\nREJECTED", Some(Ruling::Rejected)),
    // The answer repeats the template without choosing.
    ("VERDICT: APPROVED | REJECTED", None),
    ("VERDICT: APPROVED/NEEDS_REVISION/REJECTED", None),
    ("VERDICT: PASS or FAIL", None),
    ("VERDICT: <APPROVED|REJECTED>", None),
    ("VERDICT: [APPROVED or REJECTED]", None),
    ("VERDICT:\n- APPROVED\n- REJECTED", None),
    ("VERDICT:\n1. APPROVED: it is right\n2. REJECTED: it is not", None),
    ("VERDICT: [ ] APPROVED", None),
    ("VERDICT:\n- [ ] APPROVED\n- [ ] REJECTED", None),
    ("OUTPUT: VERDICT + RISK + ISSUES", None),
    ("VERDICT: PASS/FAIL with failing test names", None),
    // The ruling is negated, conditional or doubtful.
    ("VERDICT: NOT APPROVED", None),
    ("VERDICT: not a pass", None),
    ("VERDICT: NOT_APPROVED", None),
    ("VERDICT: UNAPPROVED", None),
    ("VERDICT: NON-PASS", None),
    ("VERDICT: cannot be APPROVED", None),
    ("VERDICT: I don't think this is APPROVED", None),
    ("I cannot give VERDICT: APPROVED", None),
    ("The verdict is not APPROVED.", None),
    ("VERDICT: APPROVED if the tests pass", None),
    ("VERDICT: APPROVED once the lock is fixed", None),
    ("VERDICT: conditionally APPROVED", None),
    ("VERDICT: APPROVED with conditions", None),
    ("VERDICT: APPROVED, but the lexer must change first", None),
    ("VERDICT: APPROVED?", None),
    ("VERDICT: PASS rate 80%", None),
    ("VERDICT: PASS 3/5", None),
    ("VERDICT: PASS (3 of 5 tests)", None),
    ("VERDICT: 3 PASS, 2 FAIL", None),
    ("VERDICT: partial PASS", None),
    ("VERDICT: mostly approved", None),
    ("VERDICT: ~~APPROVED~~", None),
    ("VERDICT: PASS\nTESTS: 10 passed, 2 failed", None),
    ("If this were fixed: VERDICT: APPROVED", None),
    ("I would have said VERDICT: APPROVED", None),
    // The verdict is quoted, is an example, or was given earlier.
    ("> VERDICT: APPROVED", None),
    ("The previous verdict: APPROVED was wrong.", None),
    ("The verdict was APPROVED last time.", None),
    ("You asked for \"VERDICT: APPROVED\", and I am not sure.", None),
    ("Reply with `VERDICT: APPROVED` when it is right.", None),
    ("Example: VERDICT: PASS", None),
    ("```rust\nassert_eq!(read(\"VERDICT: APPROVED\"));\n// VERDICT: APPROVED\n```", None),
    ("```diff\n+ VERDICT: PASS\n```", None),
    // There are several verdicts.
    ("VERDICT: REJECTED\n…\nVERDICT: APPROVED", None),
    ("a.rs: VERDICT: APPROVED\nb.rs: VERDICT: REJECTED", None),
    ("| File | Verdict |\n|--|--|\n| a.rs | APPROVED |\n| b.rs | REJECTED |", None),
    ("VERDICT: APPROVED | REJECTED\n\nVERDICT: APPROVED", None),
    ("PASS\n- a\nFAIL\n- b", None),
    // There is no verdict.
    ("", None),
    ("Looks good to me.", None),
    ("No verdict yet: the tests still run.", None),
    ("VERDICT:", None),
    ("VERDICT: LGTM", None),
    ("VERDICT: see above", None),
    ("The verdict depends on whether the tests pass.", None),
    ("All tests passed and I approve of the style.", None),
    ("verdicts: APPROVED", None),
    ("VERDICT: the tests that pass are few", None),
    ("VERDICT: far from APPROVED", None),
    ("VERDICT: ready to be APPROVED", None),
    ("VERDICT: waiting for a PASS", None),
    ("VERDICT: PASS (10 passed, 2 failed)", None),
    ("VERDICT: PASS with 2 failing tests", None),
    ("VERDICT: PASS with two failures", None),
    ("VERDICT: PASS (3 out of 5 tests)", None),
    ("VERDICT: PASS 3 / 5", None),
    ("VERDICT: PASS, 1 test errored", None),
    ("VERDICT: PASS\nTest results: 10 passed, 2 failed", None),
    ("VERDICT: PASS\nTESTS FAILED: 2", None),
    ("VERDICT: PASS\nTESTS: 0 failed in unit, 3 failed in e2e", None),
    ("VERDICT: PASS\nTESTS: 2 FAILURES", None),
    ("VERDICT: PASS\n| passed | 10 |\n| failed | 2 |", None),
    ("VERDICT: PASS\nFAILURES:\n- lexer::empty", None),
    ("VERDICT: APPROVED contingent on fixing the race", None),
    ("VERDICT: APPROVED as long as the lock is removed", None),
    ("VERDICT: APPROVED with changes", None),
    ("VERDICT: APPROVED with the following changes:", None),
    ("VERDICT: APPROVED in principle", None),
    ("VERDICT: APPROVED upon fixing issue 1", None),
    ("VERDICT: APPROVED, fix the race first", None),
    ("VERDICT: APPROVED with minor fixes needed", None),
    ("VERDICT: APPROVED-WITH-CHANGES", None),
    ("VERDICT: APPROVED\n(if the lock is fixed)", None),
    ("VERDICT: APPROVED\nCONDITIONS: remove the lock", None),
    ("VERDICT: APPROVED\n\nFinal decision: REJECTED", None),
    ("Decision: REJECTED\nVERDICT: APPROVED", None),
    ("VERDICT: PASS\nTESTS: 12 passed, 0 failed\nFAILURES: none", Some(Ruling::Pass)),
    ("VERDICT: PASS\n| passed | 10 |\n| failed | 0 |", Some(Ruling::Pass)),
    ("VERDICT: APPROVED\nCONDITIONS: none", Some(Ruling::Approved)),
];

#[test]
fn answers_as_models_write_them() {
    assert!(ANSWER_CASES.len() >= 60, "{}", ANSWER_CASES.len());
    let mut wrong = Vec::new();
    for (text, expected) in ANSWER_CASES {
        let reading = read_verdict(text);
        let said = match reading {
            ReadVerdict::Clear(ruling) => Some(ruling),
            ReadVerdict::Unreadable(_) => None,
        };
        if said != *expected {
            wrong.push(format!("{text:?}: {reading:?}, expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), ANSWER_CASES.len(), wrong.join("\n"));
}

/// Each answer that is not a pass is checked again in other formats, for example in upper case or inside a longer
/// answer.
#[test]
fn no_formatting_makes_an_unclear_answer_a_pass() {
    let dresses: &[fn(&str) -> String] = &[
        |text| text.to_uppercase(),
        |text| text.to_lowercase(),
        |text| format!("Here is my review.\n\n{text}\n"),
        |text| format!("{text}\n\nRISK: LOW\nSUMMARY: fine"),
        |text| text.replace('\n', "\r\n"),
        |text| format!("\u{feff}{text}"),
        |text| format!("  {}", text.replace('\n', "\n  ")),
    ];
    for (text, expected) in
        ANSWER_CASES.iter().filter(|(_, expected)| expected.is_none_or(|ruling| !ruling.is_good()))
    {
        for dress in dresses {
            let text = dress(text);
            let is_good = matches!(read_verdict(&text), ReadVerdict::Clear(ruling) if ruling.is_good());
            assert!(!is_good, "{text:?} is not a pass; plain it is {expected:?}");
        }
    }
}

#[test]
fn the_reason_is_named() {
    let rows = [
        ("", VerdictProblem::NoVerdict),
        ("VERDICT: APPROVED | REJECTED", VerdictProblem::Template),
        ("VERDICT: NOT APPROVED", VerdictProblem::Negated),
        ("VERDICT: APPROVED if it builds", VerdictProblem::Conditional),
        ("> VERDICT: APPROVED", VerdictProblem::Quoted),
        ("VERDICT: LGTM", VerdictProblem::UnknownWord),
        ("VERDICT: PASS\nVERDICT: FAIL", VerdictProblem::SeveralVerdicts),
        ("VERDICT: PASS\nTESTS: 1 failed", VerdictProblem::Contradicted),
    ];
    for (text, problem) in rows {
        assert_eq!(read_verdict(text), ReadVerdict::Unreadable(problem), "{text:?}");
        assert!(!problem.to_string().is_empty());
    }
}

#[test]
fn other_fields_are_read_too() {
    let text = "VERDICT: REJECTED\n**RISK:** HIGH\nISSUES:\n- a.rs:3 the lock is never released\n- b.rs:9 unwrap\n\n\
                SUMMARY: two of them block\n";
    let found = read_answer_fields(text);
    assert_eq!(found.risk.as_deref(), Some("HIGH"));
    assert_eq!(found.issues, ["a.rs:3 the lock is never released", "b.rs:9 unwrap"]);
    assert_eq!(found.summary.as_deref(), Some("two of them block"));
    let found = read_answer_fields("TESTS: 12 passed, 1 failed\nFAILURES: lexer::empty\nISSUES: none");
    assert_eq!((found.tests_passed, found.tests_failed), (Some(12), Some(1)));
    assert_eq!((found.failures, found.issues.len()), (vec!["lexer::empty".to_owned()], 0));
}
