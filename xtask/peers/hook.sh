# Does the work of our tool-done hook in Bash with jq: reads the payload from stdin, searches upwards for the root, and
# appends one line to the journal.
event=$(cat)
{ read -r session; read -r root; } < <(jq -r '.session_id, .cwd' <<<"$event")
while [ ! -e "$root/.agent/context/root.json" ]; do
    [ "$root" = / ] || [ -z "$root" ] && exit 0
    root=${root%/*}
done
jq -c '{ts: (now | todate), session: .session_id, tool: .tool_name, id: .tool_use_id, file: .tool_input.file_path}' \
    <<<"$event" >>"$root/.agent/context/sessions/$session.jsonl"
