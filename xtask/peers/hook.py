"""Does the work of our tool-done hook in Python: reads the payload from stdin, searches upwards for the root, and
appends one line to the journal."""

import datetime
import json
import os
import sys

event = json.load(sys.stdin)
root = event["cwd"]
while not os.path.exists(os.path.join(root, ".agent/context/root.json")):
    up = os.path.dirname(root)
    if up == root:
        sys.exit(0)
    root = up
line = {
    "ts": datetime.datetime.now(datetime.timezone.utc).isoformat(),
    "session": event["session_id"],
    "tool": event["tool_name"],
    "id": event["tool_use_id"],
    "file": event["tool_input"]["file_path"],
}
log = os.path.join(root, ".agent/context/sessions", event["session_id"] + ".jsonl")
with open(log, "a", encoding="utf-8") as file:
    file.write(json.dumps(line) + "\n")
