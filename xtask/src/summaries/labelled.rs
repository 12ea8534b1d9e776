//! Invented outputs whose error lines were chosen by a person.

/// An output, and the lines that its summary must contain.
pub struct LabelledOutput {
    pub output: String,
    pub errors: Vec<&'static str>,
}

pub fn labelled_outputs() -> Vec<LabelledOutput> {
    let passed: String = (0..1_500).map(|n| format!("test parser::case_{n} ... ok\n")).collect();
    let code: String =
        (0..900).map(|n| format!("def f_{n}(x):\n    y = x + {n}\n    return foo(y)\n\n")).collect();
    let listing: String = (0..1_500).map(|n| format!("src/part{}/file{n}.rs\n", n % 7)).collect();
    let matches: String = (0..1_500).map(|n| format!("src/a.rs:{n}:    let error = {n};\n")).collect();
    let hunk = "@@ -1,2 +1,3 @@\n context\n-before\n+    error: after\n";
    let diff = format!("diff --git a/x b/x\n--- a/x\n+++ b/x\n{}", hunk.repeat(700));
    let records: String =
        (0..700).map(|n| format!("{{\"level\":\"info\",\"error\":null,\"msg\":\"fine {n}\"}}\n")).collect();
    let items: Vec<String> =
        (0..900).map(|n| format!(r#"{{"id":{n},"name":"{}","error":null}}"#, "x".repeat(40))).collect();
    let items = items.join(",");

    // Each of these lines is inserted separately into the middle of every line-based output above.
    const ERROR_LINES: &[&str] = &[
        "Tests: 10 failed, 90 passed",
        "Found 20 errors in 3 files",
        "error: could not load info file",
        "ERROR config: missing info section",
        "fatal: no error handler is registered",
        "test result: FAILED. 5 passed; 10 failed; 0 ignored",
        "ValueError: bad shard 7",
        "AssertionError: 3 != 4",
        "FAILED tests/test_a.py::test_b",
        "src/mod.py:12: error: Incompatible return value type",
        "src/mod.py:12: [E1101(no-member), f] has no member",
        "src/mod.ts(3,4): error TS2322: not assignable",
        "bash: line 3: foo: command not found",
        "find: '/x': Permission denied",
        "make: *** [all] Error 2",
        "thread 'main' panicked at src/a.rs:3:5",
        "npm ERR! code ELIFECYCLE",
        "process exited with code 137",
    ];
    let mut all: Vec<LabelledOutput> = Vec::new();
    for filler in [&passed, &code, &listing, &matches, &diff, &records] {
        for line in ERROR_LINES {
            all.push(LabelledOutput { output: format!("{filler}{line}\n{filler}"), errors: vec![line] });
        }
    }
    // Lines that report an error only if they occur in a log.
    for line in [
        "error while parsing {",
        "retrying after connection refused ... ok? no",
        "warning: x -> treated as error",
    ] {
        all.push(LabelledOutput { output: format!("{passed}{line}\n{passed}"), errors: vec![line] });
    }
    for (output, error) in [
        (format!(r#"{{"items":[{items}],"error":{{"code":13,"message":"shard 7"}}}}"#), "shard 7"),
        (format!(r#"{{"items":[{items}],"errors":["shard 7"]}}"#), "shard 7"),
        (format!(r#"{{"data":[{items}],"errors":[{{"message":"shard 7"}}]}}"#), "shard 7"),
        (format!(r#"[{items},{{"level":"error","msg":"disk is full"}}]"#), "disk is full"),
        (format!(r#"[{items},{{"level":50,"msg":"disk is full"}}]"#), "disk is full"),
        (format!(r#"[{items},{{"status":"failed","message":"expected 3"}}]"#), "expected 3"),
        (format!(r#"{{"items":[{items}],"error":"{} THE CAUSE"}}"#, "a".repeat(500)), "THE CAUSE"),
        (format!(r#"{{"items":[{items}],"log":"fine\nerror: shard 7\nfine"}}"#), "error: shard 7"),
        (format!("{records}{{\"level\":\"ERROR\",\"msg\":\"disk full\"}}\n{records}"), "disk full"),
        (format!("{records}{{\"level\":50,\"msg\":\"disk full\"}}\n{records}"), "disk full"),
        (format!("{records}{{\"lvl\":\"i\",\"msg\":\"upload failed\"}}\n{records}"), "upload failed"),
    ] {
        all.push(LabelledOutput { output, errors: vec![error] });
    }
    all
}
