//! The scripted model: a server on loopback that answers from a [`Script`] and records the requests.
//!
//! It listens until it is dropped. The harnesses are real, but the model is not: a test shows only what a model would
//! receive.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{self, Request};
use crate::script::{Script, Step, say};
use crate::{anthropic, openai};

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Main,
    Subagent,
    Compact,
    /// A request for a title or something similar. It is answered without using a step of the script.
    Side,
}

/// One request, as it was received.
#[derive(Clone, Debug)]
pub struct Asked {
    pub kind: Kind,
    body: Value,
}

#[derive(Debug)]
pub struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stopped: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    main: VecDeque<Step>,
    subagent: VecDeque<Step>,
    compact: VecDeque<Step>,
    asked: Vec<Asked>,
    /// Requested paths for which there is no answer. The environment of the harnesses prevents such requests.
    unknown: Vec<String>,
}

impl Model {
    pub fn start(script: Script) -> Model {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port on loopback");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared::default());
        *shared.state() = State {
            main: script.main.into(),
            subagent: script.subagent.into(),
            compact: script.compact.into(),
            ..State::default()
        };
        let for_thread = Arc::clone(&shared);
        let thread = thread::spawn(move || listen(&listener, &for_thread));
        Model { address, shared, listener: Some(thread) }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.shared.state().asked.clone()
    }

    /// Adds answers after those that are left.
    pub fn then(&self, script: Script) {
        let mut state = self.shared.state();
        state.main.extend(script.main);
        state.subagent.extend(script.subagent);
        state.compact.extend(script.compact);
    }

    /// Clears the requests and the answers that are left, so that another test can use the same model.
    pub fn forget(&self) {
        *self.shared.state() = State::default();
    }

    /// Returns whether any request contained this text, anywhere.
    pub fn sent_to_model(&self, needle: &str) -> bool {
        self.shared.state().asked.iter().any(|asked| asked.holds(needle))
    }

    /// Asserts that all steps were used. If some steps were not used, the test proves less than it seems to.
    pub fn assert_played(&self) {
        let state = self.shared.state();
        let left = (state.main.len(), state.subagent.len(), state.compact.len());
        assert_eq!(left, (0, 0, 0), "steps left of (main, subagent, compact)\n{}", summary(&state));
        assert!(state.unknown.is_empty(), "the model was asked for {:?}", state.unknown);
    }
}

impl Asked {
    /// Returns whether the text is anywhere in the messages or the system prompt. Descriptions of tools do not
    /// count.
    pub fn holds(&self, needle: &str) -> bool {
        self.count(needle) > 0
    }

    /// Returns whether one text contains all of these words, each after the previous one.
    pub fn holds_in_order(&self, needles: &[&str]) -> bool {
        in_order(&self.body["messages"], needles) || in_order(&self.body["system"], needles)
    }

    /// Returns the whole text of the message or system prompt that contains `needle`.
    pub fn text_with(&self, needle: &str) -> Option<String> {
        text_with(&self.body["messages"], needle).or_else(|| text_with(&self.body["system"], needle))
    }

    pub fn count(&self, needle: &str) -> usize {
        count(&self.body["messages"], needle) + count(&self.body["system"], needle)
    }
}

fn text_with(value: &Value, needle: &str) -> Option<String> {
    match value {
        Value::String(text) => text.contains(needle).then(|| text.clone()),
        Value::Array(items) => items.iter().find_map(|item| text_with(item, needle)),
        Value::Object(fields) => fields.values().find_map(|field| text_with(field, needle)),
        _ => None,
    }
}

fn count(value: &Value, needle: &str) -> usize {
    match value {
        Value::String(text) => text.matches(needle).count(),
        Value::Array(items) => items.iter().map(|item| count(item, needle)).sum(),
        Value::Object(fields) => fields.values().map(|field| count(field, needle)).sum(),
        _ => 0,
    }
}

fn in_order(value: &Value, needles: &[&str]) -> bool {
    match value {
        Value::String(text) => {
            let mut rest = text.as_str();
            needles.iter().all(|needle| {
                let found = rest.split_once(needle);
                rest = found.map_or("", |(_, after)| after);
                found.is_some()
            })
        }
        Value::Array(items) => items.iter().any(|item| in_order(item, needles)),
        Value::Object(fields) => fields.values().any(|field| in_order(field, needles)),
        _ => false,
    }
}

fn summary(state: &State) -> String {
    let kinds: Vec<_> = state.asked.iter().map(|asked| format!("{:?}", asked.kind)).collect();
    format!("asked: {}", kinds.join(" "))
}

impl Drop for Model {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // Another connection wakes the listener, which then sees that the model was dropped.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.listener.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Returns the state even if another thread panicked, so that a failing test can still show the requests.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming().flatten() {
        if shared.is_stopped() {
            return;
        }
        let shared = Arc::clone(shared);
        // Tests let harnesses disconnect in the middle of a request, so a broken connection is not an error.
        thread::spawn(move || drop(serve(&stream, &shared)));
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let request = Request::read(stream)?;
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/v1/messages") => {
            let (number, step) = shared.next(anthropic::kind(&request), &request);
            shared.wait(step.delay);
            http::stream(stream, &anthropic::pieces(&step, &request.body["model"], number))
        }
        ("POST", "/v1/messages/count_tokens") => {
            http::answer(stream, "200 OK", &json!({ "input_tokens": 1000 }))
        }
        ("POST", "/v1/chat/completions") => {
            let (number, step) = shared.next(openai::kind(&request), &request);
            shared.wait(step.delay);
            let model = &request.body["model"];
            if let Some(status) = step.refusal {
                let reason = status.split_once(' ').map_or(status, |(_, reason)| reason);
                http::answer(stream, status, &json!({ "error": { "message": reason, "code": reason } }))
            } else if request.body["stream"] == true {
                http::stream(stream, &openai::pieces(&step, model, number))
            } else {
                http::answer(stream, "200 OK", &openai::whole(&step, model, number))
            }
        }
        (method, path) => {
            shared.state().unknown.push(format!("{method} {path}"));
            http::answer(stream, "404 Not Found", &json!({ "error": { "message": "not scripted" } }))
        }
    }
}

impl Shared {
    fn next(&self, kind: Kind, request: &Request) -> (usize, Step) {
        let mut state = self.state();
        state.asked.push(Asked { kind, body: request.body.clone() });
        let step = match kind {
            Kind::Main => state.main.pop_front(),
            Kind::Subagent => state.subagent.pop_front(),
            Kind::Compact => state.compact.pop_front(),
            Kind::Side => None,
        };
        let step = step.unwrap_or_else(|| match kind {
            Kind::Compact => say("<analysis>scripted</analysis>\n<summary>SCRIPTED-SUMMARY</summary>"),
            _ => say("Done."),
        });
        (state.asked.len(), step)
    }

    fn wait(&self, delay: Duration) {
        let until = Instant::now() + delay;
        while Instant::now() < until && !self.is_stopped() {
            thread::sleep(Duration::from_millis(20));
        }
    }
}
