//! The kernel's call for opening a file, and the code that replaces it on systems without this call, must give the same
//! result.

use std::fs::{self as files, File};
use std::io::Read;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

type OpenBeneathFn = fn(BorrowedFd, &str, OFlags, Mode) -> Result<OwnedFd>;
type OpenWithoutLinksFn = fn(&Path, OFlags) -> Result<OwnedFd>;

fn open_beneath_variants() -> Vec<(&'static str, OpenBeneathFn)> {
    let mut ways: Vec<(&'static str, OpenBeneathFn)> =
        vec![("by parts", by_parts::open_beneath), ("chosen", open_beneath)];
    if has_openat2() {
        ways.push(("kernel", kernel::open_beneath));
    }
    ways
}

fn open_without_links_variants() -> Vec<(&'static str, OpenWithoutLinksFn)> {
    let mut ways: Vec<(&'static str, OpenWithoutLinksFn)> =
        vec![("by parts", by_parts::open_without_links), ("chosen", open_without_links)];
    if has_openat2() {
        ways.push(("kernel", kernel::open_without_links));
    }
    ways
}

/// Returns whether the kernel has the system call `openat2`. macOS and some emulators lack it.
fn has_openat2() -> bool {
    kernel::open_without_links(Path::new("/"), OFlags::DIRECTORY).is_ok()
}

struct LinkAttacks {
    temp: tempfile::TempDir,
    inside: OwnedFd,
}

/// Returns an open folder `inside` that contains links of every kind. The folder `outside` must not be reachable from
/// it.
fn create_link_attacks() -> LinkAttacks {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path();
    for folder in ["inside/a/b/c", "outside"] {
        files::create_dir_all(base.join(folder)).unwrap();
    }
    for file in ["inside/plain", "inside/a/b/file", "outside/secret"] {
        files::write(base.join(file), file).unwrap();
    }
    let outside = base.join("outside");
    for (link, target) in [
        ("inside/first", outside.clone()),
        ("inside/a/second", outside.clone()),
        ("inside/a/b/third", outside.clone()),
        ("inside/a/b/last", outside.join("secret")),
        ("inside/a/b/up", "../../../outside/secret".into()),
        ("inside/near", "a".into()),
        ("inside/a/b/near", "file".into()),
        ("inside/a/b/new", outside.join("made-through-a-link")),
        ("inside/loop", "loop".into()),
    ] {
        symlink(target, base.join(link)).unwrap();
    }
    let inside = fs::openat(CWD, base.join("inside"), OFlags::DIRECTORY, Mode::empty()).unwrap();
    LinkAttacks { temp, inside }
}

#[test]
fn no_link_is_followed_and_no_name_leads_out() {
    let attacks = create_link_attacks();
    let absolute = attacks.temp.path().join("outside/secret");
    let rows = [
        ("plain", Ok(())),
        ("a/b", Ok(())),
        ("a/b/file", Ok(())),
        ("a/none", Err(Errno::NOENT)),
        ("none/file", Err(Errno::NOENT)),
        ("plain/file", Err(Errno::NOTDIR)),
        // A link is the first, a middle or the last part of the name. Some of the links lead out of the folder, and
        // others stay beneath it.
        ("first", Err(Errno::LOOP)),
        ("first/secret", Err(Errno::LOOP)),
        ("a/second/secret", Err(Errno::LOOP)),
        ("a/b/third/secret", Err(Errno::LOOP)),
        ("a/b/last", Err(Errno::LOOP)),
        ("a/b/up", Err(Errno::LOOP)),
        ("near/b/file", Err(Errno::LOOP)),
        ("a/b/near", Err(Errno::LOOP)),
        ("loop", Err(Errno::LOOP)),
        ("loop/x", Err(Errno::LOOP)),
        // These names lead out of the folder although they contain no link.
        ("..", Err(Errno::XDEV)),
        ("../outside/secret", Err(Errno::XDEV)),
        ("a/../../outside/secret", Err(Errno::XDEV)),
        ("a/b/../../../outside/secret", Err(Errno::XDEV)),
        ("/", Err(Errno::XDEV)),
        ("//etc", Err(Errno::XDEV)),
        (absolute.to_str().unwrap(), Err(Errno::XDEV)),
        ("", Err(Errno::NOENT)),
    ];
    for (name, open) in open_beneath_variants() {
        for (rel, expected) in rows {
            let opened = open(attacks.inside.as_fd(), rel, OFlags::RDONLY, Mode::empty()).map(drop);
            match (rel, name) {
                // For an empty name, `openat2` and the code that replaces it return different errors.
                ("", _) => assert!(opened.is_err(), "{name}"),
                _ => assert_eq!(opened, expected, "{name}: {rel}"),
            }
        }
    }
}

#[test]
fn nothing_is_made_through_a_link() {
    for (name, open) in open_beneath_variants() {
        let attacks = create_link_attacks();
        let flags = OFlags::CREATE | OFlags::WRONLY;
        for rel in ["a/b/new", "first/new", "a/second/new", "../outside/new"] {
            let opened = open(attacks.inside.as_fd(), rel, flags, Mode::from_raw_mode(0o600)).map(drop);
            assert!(matches!(opened, Err(Errno::LOOP | Errno::XDEV)), "{name}: {rel}: {opened:?}");
        }
        let outside: Vec<_> = files::read_dir(attacks.temp.path().join("outside")).unwrap().collect();
        assert_eq!(outside.len(), 1, "{name}: {outside:?}");
        open(attacks.inside.as_fd(), "a/b/real", flags, Mode::from_raw_mode(0o600)).unwrap();
        assert!(attacks.temp.path().join("inside/a/b/real").is_file());
    }
}

#[test]
fn only_a_folder_is_opened_as_a_folder() {
    let attacks = create_link_attacks();
    for (name, open) in open_beneath_variants() {
        let folder = |rel| open(attacks.inside.as_fd(), rel, OFlags::DIRECTORY, Mode::empty()).map(drop);
        assert_eq!(folder("a/b/c"), Ok(()), "{name}");
        assert_eq!(folder("plain"), Err(Errno::NOTDIR), "{name}");
        assert_eq!(folder("near"), Err(Errno::LOOP), "{name}");
    }
}

/// Some links in `/proc` lead straight to an open file or to another root folder. The kernel follows them without
/// looking up a path.
#[cfg(target_os = "linux")]
#[test]
fn no_magic_link_is_followed() {
    let proc = fs::openat(CWD, "/proc", OFlags::DIRECTORY, Mode::empty()).unwrap();
    let own = std::process::id();
    for (name, open) in open_beneath_variants() {
        for rel in ["cwd", "root", "root/etc", "exe", "fd/0", "ns/pid", "cwd/x"] {
            let rel = format!("{own}/{rel}");
            let opened = open(proc.as_fd(), &rel, OFlags::RDONLY, Mode::empty()).map(drop);
            assert_eq!(opened, Err(Errno::LOOP), "{name}: {rel}");
        }
        let plain = open(proc.as_fd(), &format!("{own}/stat"), OFlags::RDONLY, Mode::empty());
        assert!(plain.is_ok(), "{name}: what is not a link can be opened there");
    }
}

#[test]
fn a_path_without_links_is_opened_and_no_other() {
    let attacks = create_link_attacks();
    // On macOS, the path of the temporary folder contains a link.
    let base = attacks.temp.path().canonicalize().unwrap();
    let rows = [
        ("inside/a/b/file", Ok(())),
        ("inside", Ok(())),
        ("inside/a/../plain", Ok(())),
        ("inside/none", Err(Errno::NOENT)),
        ("none/none", Err(Errno::NOENT)),
        ("inside/plain/x", Err(Errno::NOTDIR)),
        ("inside/near/b/file", Err(Errno::LOOP)),
        ("inside/first/secret", Err(Errno::LOOP)),
        ("inside/a/b/last", Err(Errno::LOOP)),
        ("inside/near/../plain", Err(Errno::LOOP)),
    ];
    for (name, open) in open_without_links_variants() {
        for (rel, expected) in rows {
            assert_eq!(open(&base.join(rel), OFlags::RDONLY).map(drop), expected, "{name}: {rel}");
        }
        assert_eq!(open(Path::new("/"), OFlags::DIRECTORY).map(drop), Ok(()), "{name}");
    }
}

/// An attacker gains nothing by replacing a folder with a link while it is being opened.
#[test]
fn a_folder_that_becomes_a_link_while_it_is_passed_leads_nowhere() {
    let attacks = create_link_attacks();
    let base = attacks.temp.path();
    files::write(base.join("inside/a/b/secret"), "inside").unwrap();
    let (folder, aside, link) =
        (base.join("inside/a/b"), base.join("inside/a/aside"), base.join("inside/a/link"));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                symlink(base.join("outside"), &link).unwrap();
                files::rename(&folder, &aside).unwrap();
                files::rename(&link, &folder).unwrap();
                files::remove_file(&folder).unwrap();
                files::rename(&aside, &folder).unwrap();
            }
        });
        for (name, open) in open_beneath_variants() {
            for _ in 0..3_000 {
                let opened = open(attacks.inside.as_fd(), "a/b/secret", OFlags::RDONLY, Mode::empty());
                let Ok(file) = opened else { continue };
                let mut text = String::new();
                File::from(file).read_to_string(&mut text).unwrap();
                if text != "inside" {
                    done.store(true, Ordering::Relaxed);
                    panic!("{name}: {text}");
                }
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_rename_does_not_replace_a_file() {
    let attacks = create_link_attacks();
    let at = attacks.inside.as_fd();
    for taken in ["a", "loop", "near"] {
        assert_eq!(rename_if_new_name_is_free(at, "plain", taken), Err(Errno::EXIST), "{taken}");
    }
    assert_eq!(rename_if_new_name_is_free(at, "plain", "free"), Ok(()));
    assert_eq!(rename_if_new_name_is_free(at, "plain", "other"), Err(Errno::NOENT));
    sync_folder(at).unwrap();
}
