//! The only unsafe code in the project. It defines the C entry point and the allocator, and ignores `SIGPIPE` and
//! `SIGXFSZ`.
//!
//! Rust's own start-up makes 17 system calls before `main` and 2 after it. Among other things it reads
//! `/proc/self/maps` and maps a second stack, to distinguish a stack overflow from other faults. A hook runs for half a
//! millisecond and makes 14 calls of its own, so this start-up would be more than half of its work. The necessary part
//! of the start-up takes three calls and is done here. On macOS, `main.rs` has an ordinary `main` instead.

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;

const SIGPIPE: c_int = 13;
/// The signal for a write beyond `ulimit -f`. If the signal is ignored, the write returns an error instead. The number
/// is 25 on all systems except MIPS.
const SIGXFSZ: c_int = 25;
const SIG_IGN: usize = 1;

unsafe extern "C" {
    fn signal(signal: c_int, handler: usize) -> usize;
}

#[unsafe(no_mangle)]
extern "C" fn main(argc: c_int, argv: *const *const c_char, envp: *const *const c_char) -> c_int {
    // SAFETY: the constants are the same on every Unix that we build for, and we install no signal handler.
    unsafe {
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN);
    }
    open_closed_streams();
    // SAFETY: the C runtime passes `argc` valid strings, which live as long as the process.
    let words = (0..usize::try_from(argc).unwrap_or(0)).map(|i| unsafe { CStr::from_ptr(*argv.add(i)) });
    let words: Vec<OsString> = words.map(|word| OsStr::from_bytes(word.to_bytes()).to_owned()).collect();
    // SAFETY: the C runtime passes valid strings up to a null pointer, and nothing has changed the environment yet.
    let variables = (0..).map(|i| unsafe { *envp.add(i) }).take_while(|variable| !variable.is_null());
    // One scan of all variables is cheaper than a lookup for each setting. The lookups would take a fifth of a hook's
    // instructions.
    // SAFETY: the C runtime passes valid strings, and nothing has changed them yet.
    let has_variables = variables.map(|variable| unsafe { CStr::from_ptr(variable) }).any(is_thru_variable);
    c_int::from(crate::run_program(words, has_variables))
}

fn is_thru_variable(variable: &CStr) -> bool {
    variable.to_bytes().starts_with(crate::world::VARIABLE_PREFIX.as_bytes())
}

/// Opens `/dev/null` for each standard stream that the parent closed. Otherwise a file that we open could get the
/// descriptor of a closed stream, and a reply would be written to that file.
fn open_closed_streams() {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::stdio::{stderr, stdin, stdout};
    let streams = [stdin(), stdout(), stderr()];
    let mut asked = streams.map(|stream| PollFd::from_borrowed_fd(stream, PollFlags::empty()));
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    if poll(&mut asked, Some(&now)).is_err() {
        return;
    }
    for _ in asked.iter().filter(|stream| stream.revents().contains(PollFlags::NVAL)) {
        // A new file gets the lowest free descriptor, which is that of the closed stream. The file stays open.
        if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
            std::mem::forget(null);
        }
    }
}

/// dlmalloc behind a lock that costs three instructions. By default, dlmalloc uses musl's mutex. Locking it would
/// take a tenth of a hook's instructions, although a hook has only one thread.
#[cfg(target_env = "musl")]
pub(crate) struct LockedAllocator {
    is_locked: std::sync::atomic::AtomicBool,
    heap: std::cell::UnsafeCell<dlmalloc::Dlmalloc>,
}

// SAFETY: only the thread that has set `is_locked` uses the heap.
#[cfg(target_env = "musl")]
unsafe impl Sync for LockedAllocator {}

#[cfg(target_env = "musl")]
impl LockedAllocator {
    pub(crate) const fn new() -> Self {
        LockedAllocator {
            is_locked: std::sync::atomic::AtomicBool::new(false),
            heap: std::cell::UnsafeCell::new(dlmalloc::Dlmalloc::new()),
        }
    }

    fn with_heap<T>(&self, action: impl FnOnce(&mut dlmalloc::Dlmalloc) -> T) -> T {
        use std::sync::atomic::Ordering;
        while self.is_locked.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        // SAFETY: this thread has set `is_locked`, and `action` does not allocate through this allocator.
        let result = action(unsafe { &mut *self.heap.get() });
        self.is_locked.store(false, Ordering::Release);
        result
    }
}

// SAFETY: dlmalloc fulfils the contract, and the caller's promises are passed on to it unchanged.
#[cfg(target_env = "musl")]
unsafe impl std::alloc::GlobalAlloc for LockedAllocator {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        self.with_heap(|heap| unsafe { heap.malloc(layout.size(), layout.align()) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: std::alloc::Layout) {
        self.with_heap(|heap| unsafe { heap.free(memory, layout.size(), layout.align()) });
    }

    unsafe fn alloc_zeroed(&self, layout: std::alloc::Layout) -> *mut u8 {
        self.with_heap(|heap| unsafe { heap.calloc(layout.size(), layout.align()) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: std::alloc::Layout, size: usize) -> *mut u8 {
        self.with_heap(|heap| unsafe { heap.realloc(memory, layout.size(), layout.align(), size) })
    }
}
