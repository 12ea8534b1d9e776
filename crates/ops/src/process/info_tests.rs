use std::process::{Command, Stdio};

use super::*;

fn own_pid() -> i32 {
    i32::try_from(std::process::id()).unwrap()
}

#[test]
fn a_child_names_its_parent_its_program_and_its_start() {
    let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    // Between fork and exec, the child still has this process's name.
    let mut name_now = None;
    for _ in 0..2000 {
        name_now = process_name(pid);
        if name_now.as_deref() == Some("sleep") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let (parent, stamp) = (parent_pid(pid), read_process_stamp(pid));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(name_now.as_deref(), Some("sleep"));
    assert_eq!(parent, Some(own_pid()));
    assert!(stamp.as_deref().is_some_and(|stamp| stamp.starts_with(&format!("{pid}:"))), "{stamp:?}");
    assert_eq!(read_process_info(pid).unwrap(), None);
    assert_eq!((read_process_stamp(pid), parent_pid(pid), process_name(pid)), (None, None, None));
}

#[test]
fn a_stamp_does_not_change() {
    let stamp = read_process_stamp(own_pid()).unwrap();
    assert_eq!(read_process_stamp(own_pid()).unwrap(), stamp);
    assert_eq!(stamp_from_info(own_pid(), &read_process_info(own_pid()).unwrap().unwrap()).unwrap(), stamp);
}

#[test]
fn the_first_process_can_be_looked_at_whoever_we_are() {
    let first = read_process_info(1).unwrap().unwrap();
    assert!(!first.is_zombie && !first.name.is_empty());
    for nobody in [0, -1, i32::MAX] {
        assert_eq!(read_process_info(nobody).unwrap(), None, "{nobody}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_program_of_a_process_is_known() {
    assert_eq!(executable_path(own_pid()), std::env::current_exe().ok());
    assert_eq!(executable_path(i32::MAX), None);
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_may_hold_blanks_and_brackets() {
    let stat = "42 (a) b (c) S 7 42 42 0 -1 4 1 2 3 4 5 6 7 8 9 10 11 0 9001 123 4\n";
    let process = platform::parse_stat_line(stat).unwrap();
    assert_eq!(
        process,
        ProcessInfo { parent_pid: 7, name: "a) b (c".into(), started: Some("9001".into()), is_zombie: false }
    );
    assert!(platform::parse_stat_line(&stat.replace(" S 7", " Z 7")).unwrap().is_zombie);
    assert_eq!(platform::parse_stat_line("42 (cut"), None);
    assert_eq!(platform::parse_stat_line("42 (cut) S 7 42"), None);
}
