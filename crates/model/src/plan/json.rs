//! Reads a `plan.json` in thru's own format, in the format of opencode-swarm, or as a bare list of tasks. A value of
//! the wrong type is kept, with a warning.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    MIGRATED_STATUS, Phase, PhaseStatus, Plan, PlanUnreadableReason, PlanVersion, Task, TaskSize, TaskStatus,
    damaged_reason, find_plan_problems, outline, read_version,
};
use crate::id::Id;
use crate::render::one_line;

#[derive(Clone, Debug, PartialEq)]
pub struct ImportedPlan {
    pub plan: Plan,
    pub warnings: Vec<ImportWarning>,
}

/// A warning that some text is ambiguous. It states how the text was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportWarning {
    /// The line in the file, or 0 if it is unknown.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: usize,
    pub text: String,
}

fn is_zero(line: &usize) -> bool {
    *line == 0
}

/// Reads JSON or markdown. Any markdown is accepted, but JSON that is invalid or is not a plan is an error.
pub fn read_json_or_markdown(bytes: &[u8]) -> Result<ImportedPlan, PlanUnreadableReason> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = bytes.iter().find(|b| !b.is_ascii_whitespace());
    let mut imported = match first {
        Some(b'{') => {
            if let PlanVersion::Newer(version) = read_version(bytes)? {
                let why = format!(
                    "schema_version is {version}; this version of thru supports up to {}",
                    super::SCHEMA_VERSION
                );
                return Err(PlanUnreadableReason::Foreign { why });
            }
            read_unversioned_json(bytes)?
        }
        // The markdown `[ ] task` also starts with a bracket, so the text is a JSON list only if it parses.
        Some(b'[') if serde_json::from_slice::<Vec<Value>>(bytes).is_ok() => read_unversioned_json(bytes)?,
        _ => {
            let mut imported = outline::read_outline(bytes);
            outline::complete_finished_phases(&mut imported.plan);
            imported
        }
    };
    imported.plan.migration_status = MIGRATED_STATUS.to_owned();
    let found = find_plan_problems(&imported.plan);
    imported
        .warnings
        .extend(found.iter().map(|problem| ImportWarning { line: 0, text: problem.to_string() }));
    Ok(imported)
}

pub(super) fn read_unversioned_json(bytes: &[u8]) -> Result<ImportedPlan, PlanUnreadableReason> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| damaged_reason(&error))?;
    let mut reader = PlanJsonReader { warnings: Vec::new(), used_ids: HashSet::new() };
    let mut fields = match value {
        Value::Object(fields) => fields,
        Value::Array(tasks) => Map::from_iter([("tasks".to_owned(), Value::Array(tasks))]),
        _ => return Err(not_a_plan_reason("it is neither an object nor a list")),
    };
    if !fields.contains_key("phases") && !fields.contains_key("tasks") {
        return Err(not_a_plan_reason("it has neither `phases` nor `tasks`"));
    }
    let phases = take_list_field(&mut fields, &["phases"]);
    let loose = take_list_field(&mut fields, &["tasks"]);
    fields.shift_remove("schema_version");
    let title = take_text_field(&mut fields, &["title", "name", "project"]).unwrap_or_default();
    let mut plan = Plan::new(&title);
    // A plan from another tool may have no swarm name. The name is then empty.
    plan.swarm = take_text_field(&mut fields, &["swarm"]).unwrap_or_default();
    plan.current_phase = fields.get("current_phase").and_then(number_value);
    if plan.current_phase.is_some() {
        fields.shift_remove("current_phase");
    }
    plan.migration_status = MIGRATED_STATUS.to_owned();
    fields.shift_remove("migration_status");
    plan.rest = fields;
    for phase in phases {
        let read = reader.read_phase(phase, &plan);
        plan.phases.push(read);
    }
    if !loose.is_empty() {
        let id = next_phase_number(&plan);
        let tasks = loose.into_iter().enumerate().map(|(i, task)| reader.read_task(task, id, i)).collect();
        plan.phases.push(Phase { id, name: "Tasks".to_owned(), tasks, ..Phase::default() });
    }
    if plan.tasks().next().is_none() {
        reader.add_warning("it contains no tasks".to_owned());
    }
    Ok(ImportedPlan { plan, warnings: reader.warnings })
}

struct PlanJsonReader {
    warnings: Vec<ImportWarning>,
    used_ids: HashSet<String>,
}

impl PlanJsonReader {
    fn add_warning(&mut self, text: String) {
        self.warnings.push(ImportWarning { line: 0, text });
    }

    fn read_phase(&mut self, value: Value, plan: &Plan) -> Phase {
        let Value::Object(mut fields) = value else {
            self.add_warning(format!(
                "a phase that is not an object becomes a phase with this name: {}",
                one_line(&value.to_string(), 60)
            ));
            return Phase { id: next_phase_number(plan), name: value.to_string(), ..Phase::default() };
        };
        let wanted = fields.get("id").and_then(number_value).filter(|id| plan.phase(*id).is_none());
        let id = match wanted {
            Some(id) => {
                fields.shift_remove("id");
                id
            }
            None => {
                let id = next_phase_number(plan);
                if let Some(was) = fields.shift_remove("id") {
                    self.add_warning(format!(
                        "phase {} is read as phase {id}",
                        one_line(&was.to_string(), 40)
                    ));
                    fields.insert("id_was".to_owned(), was);
                }
                id
            }
        };
        let name = take_text_field(&mut fields, &["name", "title"]).unwrap_or_default();
        let status = self
            .read_known_word(&mut fields, "status", &format!("phase {id}"), PhaseStatus::parse)
            .unwrap_or_default();
        let tasks = take_list_field(&mut fields, &["tasks"])
            .into_iter()
            .enumerate()
            .map(|(i, task)| self.read_task(task, id, i))
            .collect();
        Phase { id, name, status, tasks, rest: fields }
    }

    fn read_task(&mut self, value: Value, phase: u32, place: usize) -> Task {
        let mut fields = match value {
            Value::Object(fields) => fields,
            Value::String(words) => Map::from_iter([("description".to_owned(), words.into())]),
            other => Map::from_iter([("description".to_owned(), other.to_string().into())]),
        };
        let id = self.read_task_id(&mut fields, phase, place);
        let status = self.read_known_word(&mut fields, "status", &id, TaskStatus::parse).unwrap_or_default();
        let size = self.read_known_word(&mut fields, "size", &id, TaskSize::parse);
        let description = take_text_field(&mut fields, &["description", "content", "task", "title", "name"])
            .unwrap_or_default();
        let depends =
            take_text_list_field(&mut fields, &["depends", "depends_on", "dependsOn", "dependencies"]);
        let acceptance =
            take_text_list_field(&mut fields, &["acceptance", "acceptance_criteria", "acceptanceCriteria"]);
        let files_touched = take_text_list_field(&mut fields, &["files_touched", "files", "filesTouched"]);
        let done = fields.shift_remove("reported_done").and_then(|value| value.as_bool());
        fields.shift_remove("phase");
        Task {
            id,
            phase,
            status,
            size,
            description,
            depends,
            acceptance: (!acceptance.is_empty()).then(|| acceptance.join("; ")),
            files_touched,
            evidence_path: take_text_field(&mut fields, &["evidence_path"]),
            blocked_reason: take_text_field(&mut fields, &["blocked_reason"]),
            claimed_by: take_text_field(&mut fields, &["claimed_by"]),
            started_at: take_text_field(&mut fields, &["started_at"]),
            done_at: take_text_field(&mut fields, &["done_at"]),
            without_evidence: take_text_field(&mut fields, &["without_evidence"]),
            todo: take_text_field(&mut fields, &["todo"]),
            reported_done: done.unwrap_or(false),
            rest: fields,
        }
    }

    fn read_task_id(&mut self, fields: &mut Map<String, Value>, phase: u32, place: usize) -> String {
        let wanted = take_text_field(fields, &["id", "task_id"]);
        let free = wanted.as_deref().filter(|id| Id::new(id).is_ok() && !self.used_ids.contains(*id));
        let id = match (free, &wanted) {
            (Some(id), _) => id.to_owned(),
            (None, Some(taken)) if self.used_ids.contains(taken) => {
                let id = (2..)
                    .map(|n| format!("{taken}-{n}"))
                    .find(|id| !self.used_ids.contains(id))
                    .unwrap_or_default();
                self.add_warning(format!(
                    "duplicate task id {}: the second task gets the id {id}",
                    one_line(taken, 40)
                ));
                id
            }
            (None, bad) => {
                let id = (place + 1..).map(|n| format!("{phase}.{n}")).find(|id| !self.used_ids.contains(id));
                let id = id.unwrap_or_default();
                if let Some(bad) = bad {
                    self.add_warning(format!(
                        "`{}` cannot be an id; the task gets the id {id}",
                        one_line(bad, 40)
                    ));
                    fields.insert("id_was".to_owned(), bad.as_str().into());
                }
                id
            }
        };
        self.used_ids.insert(id.clone());
        id
    }

    /// Reads one of a fixed set of words. An unknown word is kept in the field `<key>_was`.
    fn read_known_word<T>(
        &mut self,
        fields: &mut Map<String, Value>,
        key: &str,
        of: &str,
        parse: fn(&str) -> Option<T>,
    ) -> Option<T> {
        let value = fields.shift_remove(key).filter(|value| !value.is_null())?;
        if let Some(read) = value.as_str().and_then(parse) {
            return Some(read);
        }
        self.add_warning(format!(
            "{of}: {key} {} is unknown; it is kept as `{key}_was`",
            one_line(&value.to_string(), 40)
        ));
        fields.insert(format!("{key}_was"), value);
        None
    }
}

fn not_a_plan_reason(why: &str) -> PlanUnreadableReason {
    PlanUnreadableReason::Damaged { line: None, why: format!("this is not a plan: {why}") }
}

fn next_phase_number(plan: &Plan) -> u32 {
    plan.phases.iter().map(|phase| phase.id).max().map_or(1, |id| id.saturating_add(1))
}

fn number_value(value: &Value) -> Option<u32> {
    match value {
        Value::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Removes the first of these fields that contains a string or a number and returns its value as a string.
fn take_text_field(fields: &mut Map<String, Value>, keys: &[&str]) -> Option<String> {
    for key in keys {
        match fields.get(*key) {
            Some(Value::String(_) | Value::Number(_)) => {}
            Some(Value::Null) => {
                fields.shift_remove(*key);
                continue;
            }
            _ => continue,
        }
        return match fields.shift_remove(*key) {
            Some(Value::String(text)) => Some(text),
            Some(number) => Some(number.to_string()),
            None => None,
        };
    }
    None
}

/// Removes the first of these fields that contains a string, a number, a list of strings and numbers, or `null`.
/// Returns the values of that field as strings. Fields with other values are kept.
fn take_text_list_field(fields: &mut Map<String, Value>, keys: &[&str]) -> Vec<String> {
    let plain = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    for key in keys {
        let read: Option<Vec<String>> = match fields.get(*key) {
            Some(Value::Array(values)) => values.iter().map(plain).collect(),
            Some(Value::Null) => Some(Vec::new()),
            Some(value) => plain(value).map(|text| vec![text]),
            None => None,
        };
        if let Some(read) = read {
            fields.shift_remove(*key);
            return read;
        }
    }
    Vec::new()
}

fn take_list_field(fields: &mut Map<String, Value>, keys: &[&str]) -> Vec<Value> {
    let key = keys.iter().find(|key| fields.get(**key).is_some_and(Value::is_array));
    match key.and_then(|key| fields.shift_remove(*key)) {
        Some(Value::Array(values)) => values,
        _ => Vec::new(),
    }
}
