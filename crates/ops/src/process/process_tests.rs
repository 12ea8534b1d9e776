use std::path::Path;
use std::time::{Duration, Instant};

use super::{CommandJob, EndedCommand, ExitReason, run_command, run_command_streaming_output};
use crate::process::info;

fn run_shell_line(line: &str, input: &[u8], timeout: Duration, kept_output_bytes: usize) -> EndedCommand {
    let argv = ["sh", "-c", line].map(str::to_owned);
    let job = CommandJob {
        argv: &argv,
        folder: Path::new("/"),
        input,
        variables: &[("WORD", "seen".into())],
        timeout,
        kept_output_bytes,
    };
    run_command(&job).unwrap()
}

#[test]
fn the_exit_and_the_output_of_a_command_are_captured() {
    let second = Duration::from_secs(20);
    for (line, how, output) in [
        ("cat; echo $WORD; echo bad >&2", ExitReason::Exit(0), "inputseen\nbad\n"),
        ("exit 3", ExitReason::Exit(3), ""),
        ("kill -9 $$", ExitReason::Signal(9), ""),
        ("true", ExitReason::Exit(0), ""),
    ] {
        let ended = run_shell_line(line, b"input", second, 1000);
        assert_eq!(
            (ended.exit_reason, String::from_utf8_lossy(&ended.output).as_ref()),
            (how, output),
            "{line}"
        );
    }
}

#[test]
fn only_the_end_of_a_long_output_is_kept() {
    let ended = run_shell_line("yes | head -c 1000000; echo last", b"", Duration::from_secs(20), 7);
    assert_eq!(ended.output, b"y\nlast\n");
}

#[test]
fn what_hangs_is_ended_with_everything_it_started() {
    let began = Instant::now();
    // The timeout must be long enough for a shell on a busy machine to print the first line.
    let ended = run_shell_line("sleep 3600 & echo $!; sleep 3600", b"", Duration::from_secs(2), 100);
    assert_eq!(ended.exit_reason, ExitReason::TimedOut);
    assert!(began.elapsed() < Duration::from_secs(30));
    let child: i32 = String::from_utf8(ended.output).unwrap().trim().parse().unwrap();
    // The signal takes a moment to arrive, so wait until the child is gone or is a zombie.
    let lives = || matches!(info::read_process_info(child), Ok(Some(process)) if !process.is_zombie);
    while lives() {
        assert!(began.elapsed() < Duration::from_secs(30), "{child} lives on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_cannot_be_started_is_an_error() {
    let argv = ["/nowhere/at/all".to_owned()];
    let job = CommandJob {
        argv: &argv,
        folder: Path::new("/"),
        input: b"",
        variables: &[],
        timeout: Duration::from_secs(1),
        kept_output_bytes: 10,
    };
    assert!(run_command(&job).is_err());
}

#[test]
fn output_is_streamed_and_stdin_is_read_from_a_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, "from a file\n").unwrap();
    let argv = ["sh", "-c", "cat; sleep 1; echo last"].map(str::to_owned);
    let job = CommandJob {
        argv: &argv,
        folder: Path::new("/"),
        input: b"not this",
        variables: &[],
        timeout: Duration::from_secs(20),
        kept_output_bytes: 5,
    };
    let (sender, heard) = std::sync::mpsc::channel();
    let stdin = std::fs::File::open(file.path()).unwrap();
    let began = Instant::now();
    let ended = run_command_streaming_output(&job, Some(stdin), None, move |said| {
        sender.send((String::from_utf8_lossy(said).into_owned(), began.elapsed())).unwrap();
    });
    assert_eq!(ended.unwrap().output, b"last\n");
    let heard: Vec<(String, Duration)> = heard.iter().collect();
    let words: String = heard.iter().map(|(said, _)| said.as_str()).collect();
    assert_eq!(words, "from a file\nlast\n");
    assert!(heard[0].1 + Duration::from_millis(500) < heard[1].1, "while it runs: {heard:?}");
}
