//! `install.sh`, which the README names, installs a release archive and sets up a project. It builds nothing here.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::env::{TestEnv, copy_binary};

/// Copies the script to a folder with an archive of the binary. Returns the name of the archive, or `None` on a machine
/// for which there is no archive.
fn copy_script_and_archive(env: &TestEnv) -> Option<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in ["install.sh", "scripts/toolchain.sh"] {
        env.write_file(format!("checkout/{file}"), fs::read(source.join(file)).unwrap());
    }
    let checkout = env.base_folder().join("checkout");
    let shell = |script: &str| {
        let done = Command::new("sh").args(["-c", script]).current_dir(&checkout).output().unwrap();
        assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    let target = shell(". scripts/toolchain.sh; archive_target");
    if target.is_empty() {
        return None;
    }
    let name = format!("thru-0.0.0-{target}");
    fs::create_dir_all(checkout.join("dist").join(&name)).unwrap();
    copy_binary(&checkout.join("dist").join(&name).join("thru"));
    shell(&format!("cd dist && tar -czf {name}.tar.gz {name} && sha256sum {name}.tar.gz >SHA256SUMS"));
    Some(format!("{name}.tar.gz"))
}

fn run_script(env: &TestEnv) -> (bool, String) {
    let mut command = Command::new("sh");
    command.arg(env.base_folder().join("checkout/install.sh")).arg(env.project_folder()).env_clear();
    command.env("PATH", "/usr/bin:/bin").env("HOME", env.home_folder()).env("TZ", "UTC");
    let done = command.output().unwrap();
    let said = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (done.status.success(), said.concat())
}

#[test]
fn the_script_of_the_readme_installs_an_archive_and_sets_up_the_project() {
    let env = TestEnv::with_repository();
    fs::create_dir_all(env.home_folder().join(".claude/projects")).unwrap();
    let Some(archive) = copy_script_and_archive(&env) else { return };
    let (is_ok, said) = run_script(&env);
    assert!(is_ok && said.contains(&format!("Unpacking {archive} (its checksum is correct)")), "{said}");
    assert!(env.home_folder().join(".local/bin/thru").exists(), "{said}");
    assert!(env.store_folder().join("root.json").exists(), "{said}");
    let settings = fs::read_to_string(env.project_folder().join(".claude/settings.local.json")).unwrap();
    let thru = env.home_folder().join(".local/bin/thru");
    assert!(settings.contains(thru.to_str().unwrap()), "the hooks call the installed binary: {settings}");
    assert_eq!(env.run_thru_json(&["status"])["wired"][0], "claude-code");
}

#[test]
fn the_script_installs_no_archive_that_was_altered() {
    let env = TestEnv::with_repository();
    let Some(archive) = copy_script_and_archive(&env) else { return };
    env.write_file(format!("checkout/dist/{archive}"), "altered");
    let (is_ok, said) = run_script(&env);
    assert!(!is_ok && said.contains("does not match SHA256SUMS"), "{said}");
    assert!(!env.home_folder().join(".local/bin/thru").exists() && !env.store_folder().exists(), "{said}");
}
