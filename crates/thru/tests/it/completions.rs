//! Shell completions contain every command.

use std::process::Command;

use crate::docs::top_level_commands;
use crate::env::TestEnv;

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "powershell", "elvish"];

#[test]
fn every_shell_knows_every_command() {
    let env = TestEnv::new();
    let commands = top_level_commands(&env);
    assert!(commands.len() > 8, "{commands:?}");
    for shell in SHELLS {
        let script = env.run_thru(&["completions", shell]).assert_ok().stdout;
        for command in &commands {
            assert!(script.contains(command.as_str()), "{shell} does not know {command}");
        }
        assert_eq!(env.run_thru_json(&["completions", shell])["script"], script.as_str());
    }
}

#[test]
fn bash_can_read_its_script() {
    let env = TestEnv::new();
    let script = env.base_folder().join("thru.bash");
    std::fs::write(&script, env.run_thru(&["completions", "bash"]).assert_ok().bytes).unwrap();
    let checked = Command::new("bash").arg("-n").arg(&script).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let complete = format!(
        "source '{}'; COMP_WORDS=(thru sta); COMP_CWORD=1; _thru thru sta thru; echo \"${{COMPREPLY[@]}}\"",
        script.display()
    );
    let completed = Command::new("bash").args(["-c", &complete]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&completed.stdout).trim(), "status statusline");
}
