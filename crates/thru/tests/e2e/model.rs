//! The scripted model: a server on loopback that answers from a [`ModelScript`] and records the requests.
//!
//! The server listens until the model is dropped. The harnesses are real, but the model is not, so a test shows only
//! what a model would receive.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{self, Request};
use crate::script::{ModelScript, ScriptStep, text_step};
use crate::{anthropic, openai};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    Main,
    Subagent,
    Compact,
    /// A request for a title or something similar. It does not use up a step of the script.
    Side,
}

#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub kind: RequestKind,
    body: Value,
}

#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<SharedState>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct SharedState {
    stopped: AtomicBool,
    state: Mutex<ModelState>,
}

#[derive(Debug, Default)]
struct ModelState {
    main: VecDeque<ScriptStep>,
    subagent: VecDeque<ScriptStep>,
    compact: VecDeque<ScriptStep>,
    asked: Vec<ReceivedRequest>,
    /// The paths of requests that the server cannot answer. The harnesses are configured not to make such requests.
    unknown: Vec<String>,
}

impl ScriptedModel {
    pub fn start(script: ModelScript) -> ScriptedModel {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port on loopback");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(SharedState::default());
        *shared.lock_state() = ModelState {
            main: script.main.into(),
            subagent: script.subagent.into(),
            compact: script.compact.into(),
            ..ModelState::default()
        };
        let for_thread = Arc::clone(&shared);
        let thread = thread::spawn(move || accept_connections(&listener, &for_thread));
        ScriptedModel { address, shared, listener: Some(thread) }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn received_requests(&self) -> Vec<ReceivedRequest> {
        self.shared.lock_state().asked.clone()
    }

    /// Appends answers to the ones that have not been used yet.
    pub fn add_answers(&self, script: ModelScript) {
        let mut state = self.shared.lock_state();
        state.main.extend(script.main);
        state.subagent.extend(script.subagent);
        state.compact.extend(script.compact);
    }

    /// Clears the requests and the remaining answers, so that another test can use the same model.
    pub fn clear_script_and_requests(&self) {
        *self.shared.lock_state() = ModelState::default();
    }

    /// Returns whether any request contained this text, anywhere.
    pub fn has_received(&self, needle: &str) -> bool {
        self.shared.lock_state().asked.iter().any(|asked| asked.contains(needle))
    }

    /// Asserts that all steps were used, because a test with unused steps proves less than it seems to.
    pub fn assert_script_used_up(&self) {
        let state = self.shared.lock_state();
        let left = (state.main.len(), state.subagent.len(), state.compact.len());
        assert_eq!(left, (0, 0, 0), "steps left of (main, subagent, compact)\n{}", describe_state(&state));
        assert!(state.unknown.is_empty(), "the model was asked for {:?}", state.unknown);
    }
}

impl ReceivedRequest {
    /// Returns whether the messages or the system prompt contain the text. Descriptions of tools are not searched.
    pub fn contains(&self, needle: &str) -> bool {
        self.count_occurrences(needle) > 0
    }

    /// Returns whether a single text block contains all of these strings in this order.
    pub fn contains_in_order(&self, needles: &[&str]) -> bool {
        contains_in_order(&self.body["messages"], needles) || contains_in_order(&self.body["system"], needles)
    }

    /// Returns the whole text of the message or system prompt that contains `needle`.
    pub fn text_containing(&self, needle: &str) -> Option<String> {
        text_containing(&self.body["messages"], needle)
            .or_else(|| text_containing(&self.body["system"], needle))
    }

    pub fn count_occurrences(&self, needle: &str) -> usize {
        count_occurrences(&self.body["messages"], needle) + count_occurrences(&self.body["system"], needle)
    }
}

fn text_containing(value: &Value, needle: &str) -> Option<String> {
    match value {
        Value::String(text) => text.contains(needle).then(|| text.clone()),
        Value::Array(items) => items.iter().find_map(|item| text_containing(item, needle)),
        Value::Object(fields) => fields.values().find_map(|field| text_containing(field, needle)),
        _ => None,
    }
}

fn count_occurrences(value: &Value, needle: &str) -> usize {
    match value {
        Value::String(text) => text.matches(needle).count(),
        Value::Array(items) => items.iter().map(|item| count_occurrences(item, needle)).sum(),
        Value::Object(fields) => fields.values().map(|field| count_occurrences(field, needle)).sum(),
        _ => 0,
    }
}

fn contains_in_order(value: &Value, needles: &[&str]) -> bool {
    match value {
        Value::String(text) => {
            let mut rest = text.as_str();
            needles.iter().all(|needle| {
                let found = rest.split_once(needle);
                rest = found.map_or("", |(_, after)| after);
                found.is_some()
            })
        }
        Value::Array(items) => items.iter().any(|item| contains_in_order(item, needles)),
        Value::Object(fields) => fields.values().any(|field| contains_in_order(field, needles)),
        _ => false,
    }
}

fn describe_state(state: &ModelState) -> String {
    let kinds: Vec<_> = state.asked.iter().map(|asked| format!("{:?}", asked.kind)).collect();
    format!("asked: {}", kinds.join(" "))
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // A connection wakes the listener, which then sees that the model was dropped.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.listener.take() {
            let _ = thread.join();
        }
    }
}

impl SharedState {
    /// Returns the state even if another thread panicked, so that a failing test can still show the requests.
    fn lock_state(&self) -> MutexGuard<'_, ModelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

fn accept_connections(listener: &TcpListener, shared: &Arc<SharedState>) {
    for stream in listener.incoming().flatten() {
        if shared.is_stopped() {
            return;
        }
        let shared = Arc::clone(shared);
        // In some tests, a harness disconnects in the middle of a request, so a broken connection is not an error.
        thread::spawn(move || drop(serve_request(&stream, &shared)));
    }
}

fn serve_request(stream: &TcpStream, shared: &SharedState) -> io::Result<()> {
    let request = Request::read(stream)?;
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/v1/messages") => {
            let (number, step) = shared.next_step(anthropic::request_kind(&request), &request);
            shared.wait_unless_stopped(step.delay);
            http::send_stream(stream, &anthropic::answer_pieces(&step, &request.body["model"], number))
        }
        ("POST", "/v1/messages/count_tokens") => {
            http::send_answer(stream, "200 OK", &json!({ "input_tokens": 1000 }))
        }
        ("POST", "/v1/chat/completions") => {
            let (number, step) = shared.next_step(openai::request_kind(&request), &request);
            shared.wait_unless_stopped(step.delay);
            let model = &request.body["model"];
            if let Some(status) = step.refusal {
                let reason = status.split_once(' ').map_or(status, |(_, reason)| reason);
                http::send_answer(stream, status, &json!({ "error": { "message": reason, "code": reason } }))
            } else if request.body["stream"] == true {
                http::send_stream(stream, &openai::answer_pieces(&step, model, number))
            } else {
                http::send_answer(stream, "200 OK", &openai::complete_answer(&step, model, number))
            }
        }
        (method, path) => {
            shared.lock_state().unknown.push(format!("{method} {path}"));
            http::send_answer(stream, "404 Not Found", &json!({ "error": { "message": "not scripted" } }))
        }
    }
}

impl SharedState {
    fn next_step(&self, kind: RequestKind, request: &Request) -> (usize, ScriptStep) {
        let mut state = self.lock_state();
        state.asked.push(ReceivedRequest { kind, body: request.body.clone() });
        let step = match kind {
            RequestKind::Main => state.main.pop_front(),
            RequestKind::Subagent => state.subagent.pop_front(),
            RequestKind::Compact => state.compact.pop_front(),
            RequestKind::Side => None,
        };
        let step = step.unwrap_or_else(|| match kind {
            RequestKind::Compact => {
                text_step("<analysis>scripted</analysis>\n<summary>SCRIPTED-SUMMARY</summary>")
            }
            _ => text_step("Done."),
        });
        (state.asked.len(), step)
    }

    fn wait_unless_stopped(&self, delay: Duration) {
        let until = Instant::now() + delay;
        while Instant::now() < until && !self.is_stopped() {
            thread::sleep(Duration::from_millis(20));
        }
    }
}
