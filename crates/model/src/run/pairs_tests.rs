//! Real output from test runners, linters and compilers. For each tool, there is output from a passing run and from a
//! failing run.

/// A command, the output of a passing run, and the output of a failing run.
pub const PASSED_AND_FAILED_OUTPUTS: &[(&str, &str, &str)] = &[
    (
        "cargo test",
        "running 2 tests\ntest a ... ok\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n",
        "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n    b\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\nerror: test failed, to rerun pass `--lib`\n",
    ),
    (
        "cargo test --lib",
        "test result: ok. 2 passed; 0 failed; 0 ignored\n",
        "error[E0308]: mismatched types\n --> src/a.rs:3:5\n\nerror: could not compile `x` (lib test) due to 1 previous error\n",
    ),
    (
        "cargo nextest run",
        "        PASS [   0.010s] x a\n------------\n     Summary [   0.020s] 2 tests run: 2 passed, 0 skipped\n",
        "        FAIL [   0.010s] x b\n------------\n     Summary [   0.020s] 2 tests run: 1 passed, 1 failed, 0 skipped\nerror: test run failed\n",
    ),
    (
        "go test ./...",
        "ok  \texample.com/a\t0.4s\n?   \texample.com/c\t[no test files]\nok  \texample.com/b\t(cached)\n",
        "ok  \texample.com/a\t0.4s\n--- FAIL: TestB (0.00s)\n    b_test.go:7: got 1, want 2\nFAIL\nFAIL\texample.com/b\t0.2s\nFAIL\n",
    ),
    (
        "go test -v ./b",
        "=== RUN   TestB\n--- PASS: TestB (0.00s)\nPASS\nok  \texample.com/b\t0.1s\n",
        "=== RUN   TestB\npanic: runtime error: index out of range [recovered]\n\tpanic: runtime error\n\ngoroutine 7 [running]:\nFAIL\texample.com/b\t0.1s\nFAIL\n",
    ),
    (
        "go test ./broken",
        "ok  \texample.com/broken\t0.1s\n",
        "# example.com/broken [example.com/broken.test]\n./a_test.go:3:9: undefined: strings\nFAIL\texample.com/broken [build failed]\nFAIL\n",
    ),
    (
        "gotestsum",
        "✓  a (10ms)\n\nDONE 5 tests in 0.100s\n5 tests passed\n",
        "✖  a (10ms)\n\n=== Failed\n=== FAIL: a TestA (0.00s)\n\nDONE 5 tests, 1 failure in 0.100s\n",
    ),
    (
        "pytest tests",
        "tests/a.py ..........                                  [100%]\n\n============================== 10 passed in 0.12s ==============================\n",
        "FAILED tests/a.py::test_x - AssertionError: assert 1 == 2\n========================= 1 failed, 9 passed in 0.15s =========================\n",
    ),
    (
        "pytest -q",
        "..........\n10 passed in 0.12s\n",
        "F.........\nFAILED tests/a.py::test_x - assert 1 == 2\n1 failed, 9 passed in 0.15s\n",
    ),
    (
        "python3 -m pytest",
        "================== 3 passed, 1 skipped, 2 warnings in 0.50s ===================\n",
        "ERROR tests/a.py - ModuleNotFoundError: No module named 'x'\n!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!\n=============================== 1 error in 0.08s ===============================\n",
    ),
    (
        "python3 -m unittest",
        ".....\n----------------------------------------------------------------------\nRan 5 tests in 0.001s\n\nOK\n",
        "F....\n======================================================================\nFAIL: test_x (tests.A.test_x)\n----------------------------------------------------------------------\nRan 5 tests in 0.001s\n\nFAILED (failures=1)\n",
    ),
    (
        "python manage.py test",
        "Found 5 test(s).\n.....\nRan 5 tests in 0.1s\n\nOK (skipped=1)\n",
        "Found 5 test(s).\n..E..\nRan 5 tests in 0.1s\n\nFAILED (errors=1)\n",
    ),
    (
        "npx jest",
        "PASS src/a.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       5 passed, 5 total\nSnapshots:   0 total\nTime:        0.5 s\nRan all test suites.\n",
        "FAIL src/a.test.js\n  ● adds\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 4 passed, 5 total\nSnapshots:   0 total\nTime:        0.5 s\n",
    ),
    (
        "npx vitest run",
        " ✓ src/a.test.ts (5 tests) 3ms\n\n Test Files  1 passed (1)\n      Tests  5 passed (5)\n   Duration  320ms\n",
        " ❯ src/a.test.ts (5 tests | 1 failed) 9ms\n FAIL  src/a.test.ts > adds\nAssertionError: expected 1 to be 2\n\n Test Files  1 failed (1)\n      Tests  1 failed | 4 passed (5)\n   Duration  320ms\n",
    ),
    (
        "npx mocha",
        "  adds\n    ✔ one\n\n  5 passing (10ms)\n",
        "  adds\n    1) one\n\n  4 passing (10ms)\n  1 failing\n\n  1) adds one:\n     AssertionError\n",
    ),
    (
        "npx playwright test",
        "Running 5 tests using 2 workers\n  5 passed (3.2s)\n",
        "  1) [chromium] › a.spec.ts:3:1 › opens\n\n  1 failed\n    [chromium] › a.spec.ts:3:1 › opens\n  4 passed (3.2s)\n",
    ),
    (
        "npx cypress run",
        "    ✔  All specs passed!                        00:03        5        5        -        -        -\n",
        "    ✖  1 of 3 failed (33%)                      00:03        5        4        1        -        -\n",
    ),
    (
        "node --test",
        "✔ adds (0.5ms)\nℹ tests 5\nℹ pass 5\nℹ fail 0\nℹ cancelled 0\n",
        "✖ adds (0.5ms)\nℹ tests 5\nℹ pass 4\nℹ fail 1\nℹ cancelled 0\n",
    ),
    (
        "node --test test/",
        "TAP version 13\nok 1 - adds\n# tests 1\n# pass 1\n# fail 0\n",
        "TAP version 13\nnot ok 1 - adds\n# tests 1\n# pass 0\n# fail 1\n",
    ),
    ("npx ava", "  ✔ adds\n  ─\n\n  5 tests passed\n", "  ✘ adds\n  ─\n\n  1 test failed\n"),
    (
        "bun test",
        "bun test v1.1.0\n\na.test.ts:\n✓ adds [0.1ms]\n\n 5 pass\n 0 fail\n 7 expect() calls\nRan 5 tests across 1 files. [12.00ms]\n",
        "a.test.ts:\n✗ adds [0.1ms]\n\n 4 pass\n 1 fail\n 7 expect() calls\nRan 5 tests across 1 files. [12.00ms]\n",
    ),
    (
        "deno test",
        "running 5 tests from ./a_test.ts\nadds ... ok (1ms)\n\nok | 5 passed | 0 failed (12ms)\n",
        "adds ... FAILED (1ms)\n\nFAILED | 4 passed | 1 failed (12ms)\n\nerror: Test failed\n",
    ),
    (
        "dotnet test",
        "Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5, Duration: 9 ms - X.dll (net8.0)\n",
        "  Failed Adds [1 ms]\nFailed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5, Duration: 9 ms - X.dll (net8.0)\n",
    ),
    (
        "dotnet build",
        "Build succeeded.\n    0 Warning(s)\n    0 Error(s)\n",
        "/x/A.cs(3,5): error CS1002: ; expected [/x/X.csproj]\n\nBuild FAILED.\n    0 Warning(s)\n    1 Error(s)\n",
    ),
    (
        "./gradlew test",
        "> Task :test\n\nBUILD SUCCESSFUL in 3s\n4 actionable tasks: 4 executed\n",
        "> Task :test FAILED\n\nATest > adds() FAILED\n\n5 tests completed, 1 failed\n\nFAILURE: Build failed with an exception.\n\nBUILD FAILED in 3s\n",
    ),
    (
        "mvn test",
        "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\n[INFO] ------\n[INFO] BUILD SUCCESS\n[INFO] ------\n[INFO] Total time:  2.3 s\n",
        "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0\n[INFO] ------\n[INFO] BUILD FAILURE\n[INFO] ------\n[ERROR] Failed to execute goal\n",
    ),
    (
        "ctest",
        "100% tests passed, 0 tests failed out of 5\n\nTotal Test time (real) =   0.02 sec\n",
        "80% tests passed, 1 tests failed out of 5\n\nTotal Test time (real) =   0.02 sec\n\nThe following tests FAILED:\n\t  2 - adds (Failed)\nErrors while running CTest\n",
    ),
    (
        "bundle exec rspec",
        ".....\n\nFinished in 0.01 seconds (files took 0.1 seconds to load)\n5 examples, 0 failures\n",
        "....F\n\nFinished in 0.01 seconds (files took 0.1 seconds to load)\n5 examples, 1 failure\n\nFailed examples:\n\nrspec ./a_spec.rb:3 # adds\n",
    ),
    (
        "rails test",
        "Finished in 0.1s, 50 runs/s, 90 assertions/s.\n5 runs, 9 assertions, 0 failures, 0 errors, 0 skips\n",
        "Failure:\nATest#test_adds [test/a_test.rb:3]:\n\n5 runs, 9 assertions, 1 failures, 0 errors, 0 skips\n",
    ),
    (
        "vendor/bin/phpunit tests",
        ".....                               5 / 5 (100%)\n\nTime: 00:00.010, Memory: 6.00 MB\n\nOK (5 tests, 9 assertions)\n",
        "....F                               5 / 5 (100%)\n\nThere was 1 failure:\n\nFAILURES!\nTests: 5, Assertions: 9, Failures: 1.\n",
    ),
    (
        "mix test",
        ".....\nFinished in 0.03 seconds (0.00s async, 0.03s sync)\n5 tests, 0 failures\n",
        "  1) test adds (ATest)\n\nFinished in 0.03 seconds\n1 doctest, 5 tests, 1 failure\n",
    ),
    (
        "swift test",
        "Test Suite 'All tests' passed at 2026-01-01.\n\t Executed 5 tests, with 0 failures (0 unexpected) in 0.010 (0.012) seconds\n",
        "Test Suite 'All tests' failed at 2026-01-01.\n\t Executed 5 tests, with 1 failure (0 unexpected) in 0.010 (0.012) seconds\n",
    ),
    (
        "swift test --filter A",
        "✔ Test run with 5 tests passed after 0.001 seconds.\n",
        "✘ Test adds() recorded an issue\n✘ Test run with 5 tests failed after 0.001 seconds with 1 issue.\n",
    ),
    (
        "bats test",
        "1..2\nok 1 adds\nok 2 subtracts\n\n2 tests, 0 failures\n",
        "1..2\nok 1 adds\nnot ok 2 subtracts\n\n2 tests, 1 failure\n",
    ),
    (
        "tox",
        "  py311: OK (1.2 seconds)\n  congratulations :) (1.3 seconds)\n",
        "  py311: FAIL code 1 (1.2 seconds)\n  evaluation failed :( (1.3 seconds)\n",
    ),
    (
        "bazel test //...",
        "//a:a_test                          PASSED in 0.1s\n\nExecuted 1 out of 1 test: 1 test passes.\n",
        "//a:a_test                          FAILED in 0.1s\n\nExecuted 1 out of 1 test: 1 fails locally.\n",
    ),
    (
        "npx tsc --noEmit -w false",
        "Found 0 errors.\n",
        "src/a.ts(3,5): error TS2304: Cannot find name 'x'.\n",
    ),
    (
        "npx tsc --pretty",
        "Found 0 errors. Watching for file changes.\n",
        "src/a.ts:3:5 - error TS2304: Cannot find name 'x'.\n\nFound 1 error in src/a.ts:3\n",
    ),
    (
        "npx eslint src",
        "✖ 3 problems (0 errors, 3 warnings)\n",
        "/x/src/a.js\n  3:5  error  'x' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)\n",
    ),
    (
        "ruff check .",
        "All checks passed!\n",
        "src/a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n[*] 1 fixable with the `--fix` option.\n",
    ),
    (
        "mypy src",
        "Success: no issues found in 5 source files\n",
        "src/a.py:3: error: Incompatible types in assignment\nFound 1 error in 1 file (checked 5 source files)\n",
    ),
    (
        "pyright",
        "0 errors, 0 warnings, 0 informations\n",
        "  /x/a.py:3:5 - error: \"y\" is not defined\n1 error, 0 warnings, 0 informations\n",
    ),
    (
        "cargo clippy --all-targets -- -D warnings",
        "    Checking x v0.1.0\n    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.31s\n",
        "error: unused variable: `x`\n --> src/a.rs:3:9\n\nerror: could not compile `x` (lib) due to 1 previous error\n",
    ),
    (
        "cargo build",
        "   Compiling x v0.1.0\n    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.31s\n",
        "error[E0425]: cannot find value `y` in this scope\n --> src/a.rs:3:9\n\nerror: could not compile `x` (bin \"x\") due to 1 previous error\n",
    ),
    (
        "golangci-lint run ./...",
        "0 issues.\n",
        "cmd/a.go:12:3: ineffectual assignment to err (ineffassign)\n\terr := f()\n\t^\n1 issues:\n* ineffassign: 1\n",
    ),
    (
        "gcc -Wall -o a a.c && echo compiled",
        "compiled\n",
        "a.c: In function 'main':\na.c:3:5: error: 'x' undeclared (first use in this function)\n",
    ),
    (
        "clang++ a.cc -o a && echo built",
        "built\n",
        "a.cc:3:5: error: use of undeclared identifier 'x'\n1 error generated.\n",
    ),
    (
        "javac A.java && echo compiled",
        "compiled\n",
        "A.java:3: error: ';' expected\n    int x = 1\n             ^\n1 error\n",
    ),
    (
        "npx biome check src",
        "Checked 5 files in 3ms. No fixes applied.\n",
        "src/a.ts:3:5 lint/suspicious/noExplicitAny ━━━━━\n\nChecked 5 files in 3ms. No fixes applied.\nFound 1 error.\n",
    ),
    (
        "prettier --check .",
        "Checking formatting...\nAll matched files use Prettier code style!\n",
        "Checking formatting...\n[warn] src/a.ts\n[warn] Code style issues found in the above file. Run Prettier with --write to fix.\n",
    ),
    (
        "black --check .",
        "All done! ✨ 🍰 ✨\n5 files would be left unchanged.\n",
        "would reformat /x/a.py\n\nOh no! 💥 💔 💥\n1 file would be reformatted, 4 files would be left unchanged.\n",
    ),
    (
        "rubocop",
        "Inspecting 5 files\n.....\n\n5 files inspected, no offenses detected\n",
        "a.rb:3:5: C: Style/StringLiterals: Prefer single-quoted strings\n\n5 files inspected, 1 offense detected\n",
    ),
    (
        "make test",
        "pytest -q\n5 passed in 0.1s\n",
        "pytest -q\n1 failed, 4 passed in 0.1s\nmake: *** [Makefile:3: test] Error 1\n",
    ),
    (
        "make -C src check",
        "test result: ok. 5 passed; 0 failed; 0 ignored\n",
        "a.c:3:5: error: x\nmake[1]: *** [Makefile:9: a.o] Error 1\nmake: *** [Makefile:3: check] Error 2\n",
    ),
    (
        "just test",
        "cargo test\ntest result: ok. 5 passed; 0 failed; 0 ignored\n",
        "cargo test\nerror: Recipe `test` failed on line 3 with exit code 101\n",
    ),
    (
        "mise run lint",
        "[lint] $ golangci-lint run ./...\n0 issues.\n",
        "[lint] $ golangci-lint run ./...\na/b.go:3:9: unnamed result (gocritic)\n1 issues:\n* gocritic: 1\n[lint] ERROR task failed\n",
    ),
    (
        "mise run lint:all",
        "[lint:go] 0 issues.\nFinished in 3.2s\n",
        "[lint:go] a/b.go:3:9: unnamed result (gocritic)\n[lint:go] 1 issues:\n[lint:go] * gocritic: 1\nFinished in 3.2s\n[lint:go] ERROR task failed\n",
    ),
    (
        "npm test",
        "> x@1.0.0 test\n> jest\n\nTests:       5 passed, 5 total\n",
        "> x@1.0.0 test\n> ./run\n\nnpm ERR! Test failed.  See above for more details.\n",
    ),
    (
        "npm run lint",
        "> x@1.0.0 lint\n> eslint .\n\n✖ 1 problem (0 errors, 1 warning)\n",
        "> x@1.0.0 lint\n> eslint .\n\nnpm error Lifecycle script `lint` failed with error:\nnpm error code 1\n",
    ),
    (
        "pnpm test",
        "> x@1.0.0 test /x\n> vitest run\n\n      Tests  5 passed (5)\n",
        "> x@1.0.0 test /x\n> vitest run\n\n ELIFECYCLE  Test failed. See above for more details.\n",
    ),
    (
        "yarn test",
        "$ jest\nTests:       5 passed, 5 total\nDone in 1.20s.\n",
        "$ jest\nerror Command failed with exit code 1.\ninfo Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command.\n",
    ),
    (
        "bun run test",
        "$ vitest run\n      Tests  5 passed (5)\n",
        "$ vitest run\nerror: script \"test\" exited with code 1\n",
    ),
    (
        "npx turbo test",
        "web:test: Tests:       5 passed, 5 total\n\n Tasks:    2 successful, 2 total\nCached:    0 cached, 2 total\n  Time:    3.2s\n",
        "web:test: Tests:       1 failed, 4 passed, 5 total\n\n Tasks:    1 successful, 2 total\nFailed:    web#test\n\n ERROR  run failed: command  exited (1)\n",
    ),
    (
        "npx nx run web:test",
        " NX   Successfully ran target test for project web\n",
        " NX   Running target test for project web failed\n\nFailed tasks:\n\n- web:test\n",
    ),
    (
        "task test",
        "task: [test] go test ./...\nok  \texample.com/a\t0.1s\n",
        "task: [test] go test ./...\nFAIL\texample.com/a\t0.1s\ntask: Failed to run task \"test\": exit status 1\n",
    ),
    (
        "rake test",
        "5 runs, 9 assertions, 0 failures, 0 errors, 0 skips\n",
        "5 runs, 9 assertions, 0 failures, 1 errors, 0 skips\nrake aborted!\nCommand failed with status (1)\n",
    ),
    (
        "pre-commit run -a",
        "trim trailing whitespace.................................................Passed\n5 passed, 0 failed\n",
        "trim trailing whitespace.................................................Failed\n- hook id: trailing-whitespace\n",
    ),
    (
        "npx vite build",
        "vite v5.0.0 building for production...\n✓ built in 1.20s\n",
        "vite v5.0.0 building for production...\nerror during build:\nRollupError: Could not resolve \"./x\" from \"src/a.ts\"\n",
    ),
    (
        "npx webpack",
        "webpack 5.89.0 compiled successfully in 1200 ms\n",
        "ERROR in ./src/a.js\nModule not found\n\nwebpack 5.89.0 compiled with 1 error in 1200 ms\n",
    ),
    (
        "swift build",
        "[3/3] Linking x\nBuild complete! (1.20s)\n",
        "/x/a.swift:3:5: error: cannot find 'y' in scope\n",
    ),
    (
        "cargo test -p \u{1b}",
        "\u{1b}[32mtest result: \u{1b}[0mok. 2 passed; 0 failed\n",
        "\u{1b}[31mtest result: \u{1b}[0mFAILED. 1 passed; 1 failed\n",
    ),
];
