// Does the work of our tool-done hook in Node: reads the payload from stdin, searches upwards for the root, and appends
// one line to the journal.
const fs = require("node:fs");
const path = require("node:path");

const event = JSON.parse(fs.readFileSync(0, "utf8"));
let root = event.cwd;
while (!fs.existsSync(path.join(root, ".agent/context/root.json"))) {
  const up = path.dirname(root);
  if (up === root) process.exit(0);
  root = up;
}
const line = {
  ts: new Date().toISOString(),
  session: event.session_id,
  tool: event.tool_name,
  id: event.tool_use_id,
  file: event.tool_input.file_path,
};
const log = path.join(root, ".agent/context/sessions", `${event.session_id}.jsonl`);
fs.appendFileSync(log, `${JSON.stringify(line)}\n`);
