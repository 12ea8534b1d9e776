//! `expected.json` lists the outputs that a run must produce. `thru` or a person writes it, and unknown fields are
//! kept.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{JudgedOutput, OutputTier, OutputVerdict, default_output_tier};
use crate::time;

pub const SCHEMA_VERSION: u64 = 1;

#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedOutputs {
    pub stage: String,
    /// How many times the whole stage was started. Every `--again` adds one.
    pub attempt: u32,
    pub outputs: Vec<ExpectedOutput>,
    /// When a check last found every output valid, or `None` if there was no such check since the last launch.
    pub passed_at: Option<Timestamp>,
    /// The original content, including unknown fields.
    original_fields: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedOutput {
    pub file: String,
    pub tier: OutputTier,
    pub prompt: String,
    /// The program and its arguments. The list is empty if the output has no command.
    pub launch: Vec<String>,
    pub inputs: Vec<String>,
    pub not_before: Option<Timestamp>,
    /// The number of launches since the stage was started. The count restarts at zero when a valid output becomes
    /// invalid.
    pub attempts: u32,
    /// Whether the output was valid when it was last judged after a launch.
    pub was_valid: bool,
    /// The digest of the inputs when the output was last requested.
    pub inputs_digest: String,
    /// The digest of each input when the stage passed, in the order of `inputs`. Empty if it was not recorded.
    pub input_digests_at_pass: Vec<String>,
    /// The checkout from which that digest was computed: the absolute path of a worktree, or `ROOT_CHECKOUT`. Empty if
    /// it was not recorded.
    pub inputs_checkout: String,
}

/// Stands for the root's own checkout in a record. Unlike its path, this stays true if the project is moved.
pub const ROOT_CHECKOUT: &str = ".";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedOutputsProblem {
    Damaged { line: Option<usize>, why: String },
    Foreign { why: String },
}

impl ExpectedOutput {
    pub fn new(file: &str) -> ExpectedOutput {
        ExpectedOutput {
            file: file.to_owned(),
            tier: default_output_tier(file),
            prompt: String::new(),
            launch: Vec::new(),
            inputs: Vec::new(),
            not_before: None,
            attempts: 0,
            was_valid: false,
            inputs_digest: String::new(),
            input_digests_at_pass: Vec::new(),
            inputs_checkout: String::new(),
        }
    }

    /// Returns the inputs that have changed since the stage passed. `digests` are the current digests of the inputs. The
    /// list is empty if it is unknown which of them changed.
    pub fn inputs_changed_since_pass(&self, digests: &[String]) -> Vec<String> {
        let before = &self.input_digests_at_pass;
        match self.inputs.as_slice() {
            [only] => vec![only.clone()],
            _ if before.len() != self.inputs.len() || digests.len() != self.inputs.len() => Vec::new(),
            inputs => {
                let changed =
                    inputs.iter().zip(before.iter().zip(digests)).filter(|(_, (old, new))| old != new);
                changed.map(|(input, _)| input.clone()).collect()
            }
        }
    }

    /// Returns the checkout that the record names, if it is not the root's own checkout. A worktree may contain a branch
    /// that the user does not trust.
    pub fn other_checkout(&self) -> Option<&str> {
        Some(self.inputs_checkout.as_str()).filter(|checkout| !["", ROOT_CHECKOUT].contains(checkout))
    }

    fn to_json(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("file".into(), self.file.as_str().into());
        fields.insert("tier".into(), self.tier.name().into());
        fields.insert("prompt".into(), self.prompt.as_str().into());
        fields.insert("launch".into(), self.launch.clone().into());
        fields.insert("inputs".into(), self.inputs.clone().into());
        if let Some(not_before) = self.not_before {
            fields.insert("not_before".into(), time::to_rfc3339(not_before).into());
        }
        fields.insert("attempts".into(), self.attempts.into());
        if self.was_valid {
            fields.insert("was_valid".into(), true.into());
        }
        if !self.inputs_digest.is_empty() {
            fields.insert("inputs_digest".into(), self.inputs_digest.as_str().into());
            fields.insert("inputs_checkout".into(), self.inputs_checkout.as_str().into());
        }
        Value::Object(fields)
    }
}

impl ExpectedOutputs {
    pub fn new(stage: &str, outputs: Vec<ExpectedOutput>) -> ExpectedOutputs {
        let mut original_fields = Map::new();
        original_fields.insert("schema_version".into(), SCHEMA_VERSION.into());
        original_fields.insert("stage".into(), stage.into());
        original_fields.insert("attempt".into(), 1.into());
        original_fields.insert("outputs".into(), outputs.iter().map(ExpectedOutput::to_json).collect());
        ExpectedOutputs { stage: stage.to_owned(), attempt: 1, outputs, passed_at: None, original_fields }
    }

    pub fn parse(bytes: &[u8]) -> Result<ExpectedOutputs, ExpectedOutputsProblem> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let original_fields: Map<String, Value> = serde_json::from_slice(bytes).map_err(|error| {
            let why =
                if bytes.is_empty() { "the file is empty".to_owned() } else { format!("not JSON: {error}") };
            ExpectedOutputsProblem::Damaged { line: Some(error.line().max(1)), why }
        })?;
        let version = match original_fields.get("schema_version") {
            None => SCHEMA_VERSION,
            Some(version) => {
                version.as_u64().ok_or_else(|| wrong_type_problem("schema_version", "a whole number"))?
            }
        };
        if version > SCHEMA_VERSION {
            let why =
                format!("schema_version is {version}; this version of thru supports up to {SCHEMA_VERSION}");
            return Err(ExpectedOutputsProblem::Foreign { why });
        }
        let stage = read_text_field(&original_fields, "stage", "stage")?.unwrap_or_default();
        let attempt = read_number_field(&original_fields, "attempt", "attempt")?.unwrap_or(1);
        let Some(Value::Array(listed)) = original_fields.get("outputs") else {
            return Err(wrong_type_problem("outputs", "a list of the files that the run must contain"));
        };
        let mut outputs: Vec<ExpectedOutput> = Vec::with_capacity(listed.len());
        for (i, listed) in listed.iter().enumerate() {
            let output = read_expected_output(listed, &format!("outputs[{i}]"))?;
            if outputs.iter().any(|known| known.file == output.file) {
                let why = format!("outputs[{i}].file names `{}` a second time", output.file);
                return Err(ExpectedOutputsProblem::Damaged { line: None, why });
            }
            outputs.push(output);
        }
        if outputs.is_empty() {
            let why = "outputs is empty, so nothing is expected".to_owned();
            return Err(ExpectedOutputsProblem::Damaged { line: None, why });
        }
        let passed_at = original_fields.get("passed_at").and_then(Value::as_str).and_then(time::parse_time);
        Ok(ExpectedOutputs { stage, attempt, outputs, passed_at, original_fields })
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        format!("{:#}\n", Value::Object(self.original_fields.clone())).into_bytes()
    }

    /// Counts a launch before it happens. Otherwise a process that crashes each time could be launched without limit.
    pub fn count_launch(&mut self, i: usize, inputs_digest: &str, inputs_checkout: &str) {
        let Some(output) = self.outputs.get_mut(i) else { return };
        output.attempts += 1;
        output.inputs_digest = inputs_digest.to_owned();
        if !inputs_digest.is_empty() {
            output.inputs_checkout = inputs_checkout.to_owned();
        }
        let attempts = output.attempts;
        self.set_output_field(i, "attempts", attempts.into());
        if !inputs_digest.is_empty() {
            self.set_output_field(i, "inputs_digest", inputs_digest.into());
            self.set_output_field(i, "inputs_checkout", inputs_checkout.into());
        }
        self.forget_pass();
    }

    fn forget_pass(&mut self) {
        self.passed_at = None;
        self.original_fields.remove("passed_at");
    }

    /// Requests an output again after its inputs have changed. `inputs_digest` is the digest of the inputs as they are
    /// now. A file that was written before `now` does not count, even if it was written in the same second.
    pub fn renew_request(&mut self, i: usize, inputs_digest: &str, now: Timestamp) {
        let Some(output) = self.outputs.get_mut(i) else { return };
        (output.inputs_digest, output.not_before) = (inputs_digest.to_owned(), Some(now));
        self.set_output_field(i, "inputs_digest", inputs_digest.into());
        self.set_output_field(i, "not_before", time::to_rfc3339_millis(now).into());
        self.forget_pass();
    }

    /// Records that every output is valid. `input_digests` are the digests of the inputs of each output. Returns false
    /// if the pass was already recorded.
    pub fn record_pass(&mut self, now: Timestamp, input_digests: Vec<Vec<String>>) -> bool {
        let is_new = self.passed_at.is_none();
        if is_new {
            self.passed_at = Some(now);
            self.original_fields.insert("passed_at".into(), time::to_rfc3339(now).into());
            for (i, digests) in input_digests.into_iter().enumerate().take(self.outputs.len()) {
                if !digests.is_empty() {
                    self.set_output_field(i, "input_digests_at_pass", digests.as_slice().into());
                }
                self.outputs[i].input_digests_at_pass = digests;
            }
        }
        is_new
    }

    /// Returns whether an invalid output keeps the stage open. If the stage has passed, a later change of its inputs
    /// does not open it again, because the work that follows a stage may change them.
    pub fn keeps_stage_open(&self, judged: &JudgedOutput) -> bool {
        self.passed_at.is_none() || !judged.have_inputs_changed
    }

    /// Records that an output became valid or invalid. If it became invalid, its launches are counted from zero again.
    /// Returns false if nothing changed.
    pub fn record_verdict(&mut self, i: usize, verdict: OutputVerdict) -> bool {
        let Some(output) = self.outputs.get_mut(i) else { return false };
        let is_valid = verdict == OutputVerdict::Valid;
        if is_valid == output.was_valid || output.attempts == 0 {
            return false;
        }
        output.was_valid = is_valid;
        self.set_output_field(i, "was_valid", is_valid.into());
        if !is_valid {
            self.outputs[i].attempts = 0;
            self.set_output_field(i, "attempts", 0.into());
        }
        true
    }

    /// Restarts the stage. The launches of these outputs are counted from zero again.
    pub fn reset_launches(&mut self, outputs: &[usize]) {
        self.attempt += 1;
        self.original_fields.insert("attempt".into(), self.attempt.into());
        for &i in outputs {
            if let Some(output) = self.outputs.get_mut(i) {
                output.attempts = 0;
                self.set_output_field(i, "attempts", 0.into());
            }
        }
    }

    fn set_output_field(&mut self, i: usize, key: &str, value: Value) {
        let listed = self.original_fields.get_mut("outputs").and_then(|outputs| outputs.get_mut(i));
        match listed {
            Some(Value::Object(fields)) => drop(fields.insert(key.to_owned(), value)),
            // The entry is a bare name that was written by hand.
            Some(bare) => *bare = self.outputs[i].to_json(),
            None => {}
        }
    }
}

fn read_expected_output(value: &Value, at: &str) -> Result<ExpectedOutput, ExpectedOutputsProblem> {
    let fields = match value {
        Value::String(file) => return Ok(ExpectedOutput::new(file)),
        Value::Object(fields) => fields,
        _ => return Err(wrong_type_problem(at, "an object with a `file`")),
    };
    let key = |key: &str| format!("{at}.{key}");
    let file = read_text_field(fields, "file", &key("file"))?
        .ok_or_else(|| wrong_type_problem(&key("file"), "a string"))?;
    let tier = match read_text_field(fields, "tier", &key("tier"))? {
        None => default_output_tier(&file),
        Some(word) => OutputTier::parse(&word)
            .ok_or_else(|| wrong_type_problem(&key("tier"), "`critical` or `advisory`"))?,
    };
    let not_before = match read_text_field(fields, "not_before", &key("not_before"))? {
        None => None,
        Some(word) => {
            let at = time::parse_time(&word);
            Some(at.ok_or_else(|| {
                wrong_type_problem(&key("not_before"), "a time such as 2026-11-15T19:22:00Z")
            })?)
        }
    };
    Ok(ExpectedOutput {
        tier,
        not_before,
        prompt: read_text_field(fields, "prompt", &key("prompt"))?.unwrap_or_default(),
        launch: read_text_list_field(fields, "launch", &key("launch"))?,
        inputs: read_text_list_field(fields, "inputs", &key("inputs"))?,
        attempts: read_number_field(fields, "attempts", &key("attempts"))?.unwrap_or(0),
        was_valid: fields.get("was_valid").and_then(Value::as_bool).unwrap_or(false),
        inputs_digest: read_text_field(fields, "inputs_digest", &key("inputs_digest"))?.unwrap_or_default(),
        input_digests_at_pass: read_text_list_field(
            fields,
            "input_digests_at_pass",
            &key("input_digests_at_pass"),
        )?,
        inputs_checkout: read_text_field(fields, "inputs_checkout", &key("inputs_checkout"))?
            .unwrap_or_default(),
        file,
    })
}

fn read_text_field(
    fields: &Map<String, Value>,
    key: &str,
    at: &str,
) -> Result<Option<String>, ExpectedOutputsProblem> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong_type_problem(at, "a string")),
    }
}

fn read_text_list_field(
    fields: &Map<String, Value>,
    key: &str,
    at: &str,
) -> Result<Vec<String>, ExpectedOutputsProblem> {
    let list = match fields.get(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(wrong_type_problem(at, "a list of strings")),
    };
    let words = list.iter().map(|word| word.as_str().map(str::to_owned));
    words.collect::<Option<_>>().ok_or_else(|| wrong_type_problem(at, "a list of strings"))
}

fn read_number_field(
    fields: &Map<String, Value>,
    key: &str,
    at: &str,
) -> Result<Option<u32>, ExpectedOutputsProblem> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
            number.map(Some).ok_or_else(|| wrong_type_problem(at, "a whole number"))
        }
    }
}

fn wrong_type_problem(at: &str, wanted: &str) -> ExpectedOutputsProblem {
    ExpectedOutputsProblem::Damaged { line: None, why: format!("{at} must be {wanted}") }
}
