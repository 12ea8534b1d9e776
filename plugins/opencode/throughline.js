// Throughline for OpenCode. Written by `thru install opencode`; `thru uninstall opencode` removes it.
//
// A shim: it turns OpenCode's hooks into calls of `thru hook opencode <event>` and puts the answers where OpenCode takes
// them. Every rule is in the binary. Whatever goes wrong here or there changes nothing for the session: no hook throws
// (in `experimental.session.compacting` that would leave the session stuck), and nothing is waited for without a limit.
//
// Only `node:` modules: OpenCode loads plugins before its own packages are installed, and without them where it is offline.

import { spawn, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"

// The next line is filled in by `thru install`.
const INSTALLED = { thru: "thru", version: "0.0.0", patience: 300, commands: [] }

// How long `thru` may take, in milliseconds. For a while after it took longer, tool calls are not told and everything else
// gets the short time: a `thru` that hangs must not hold up every step of a turn.
const TIMEOUT = 2_000
const SHORT_TIMEOUT = 500
const PAUSE = 10_000
const SKIPPED_IN_A_PAUSE = "tool.execute.after"

// More than any answer has, and more than any output that a model is shown.
const LARGEST_ANSWER = 256 * 1024
const LARGEST_OUTPUT = 1024 * 1024

// What is passed on of a tool's arguments: never the text of a file.
const ARGUMENTS = ["filePath", "path", "command", "workdir", "patchText", "todos", "description", "subagent_type", "questions"]

// How the parts that are ours are known again, also by a later process: in their metadata.
const CONTEXT = "context"
const LOOP = "loop"

// Options of OpenCode that a value follows, which could be taken for the name of a command.
const VALUED = ["--log-level", "-m", "--model", "-s", "--session", "--agent", "--prompt", "--port", "--hostname"]

// The clients that a copy of this plugin serves already, whichever file it was loaded from.
const SERVED = (globalThis[Symbol.for("throughline.opencode")] ??= new WeakSet())

export const Throughline = async ({ client, directory }) => {
  // Installed for the user and for the project too: OpenCode gives both copies the same client, and one is enough. A copy
  // whose program is gone leaves the other one to it.
  if (SERVED.has(client)) return {}
  if (!INSTALLED.thru.includes("/") || existsSync(INSTALLED.thru)) SERVED.add(client)
  const loadedAt = Date.now()
  const known = new Map()
  const commands = new Map()
  // `opencode run` exits when its session is idle: what is to go on must be said before.
  const words = process.argv.slice(2)
  const isCommand = (word, at) => !word.startsWith("-") && !VALUED.includes(words[at - 1])
  const endsAtIdle = words.find(isCommand) === "run"
  let pausedUntil = 0

  // ---- calling thru ----

  // `failed`: there was no answer, and nothing may be concluded from that.
  function ask(event, session, fields, patience) {
    const isPaused = Date.now() < pausedUntil
    if (isPaused && event === SKIPPED_IN_A_PAUSE) return { failed: true }
    const done = spawnSync(INSTALLED.thru, ["hook", "opencode", event], {
      ...options(session),
      input: payload(event, session, fields),
      encoding: "utf8",
      timeout: patience ?? (isPaused ? SHORT_TIMEOUT : TIMEOUT),
      killSignal: "SIGKILL",
      maxBuffer: LARGEST_ANSWER,
    })
    if (done.error?.code === "ETIMEDOUT") pausedUntil = Date.now() + PAUSE
    return done.error || done.status !== 0 ? { failed: true } : answer(done.stdout)
  }

  // A loop's validators may take minutes: nobody else waits for them.
  function askPatiently(event, session, fields) {
    const timeout = INSTALLED.patience * 1000 + TIMEOUT
    if (endsAtIdle) return ask(event, session, fields, timeout)
    return new Promise((resolve) => {
      let text = ""
      const child = spawn(INSTALLED.thru, ["hook", "opencode", event], { ...options(session), timeout })
      child.on("error", () => resolve({ failed: true }))
      child.stdin.on("error", () => {})
      // Characters may be split between two pieces of data.
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (data) => (text = text.length < LARGEST_ANSWER ? text + data : text))
      child.on("close", (code) => resolve(code === 0 ? answer(text) : { failed: true }))
      child.stdin.end(payload(event, session, fields))
    })
  }

  // OpenCode's own answers are waited for no longer than ours.
  const within = (answer) => Promise.race([answer, new Promise((resolve) => setTimeout(resolve, TIMEOUT, {}).unref())])

  function options(session) {
    const env = { ...process.env, OPENCODE_SESSION_ID: session.main }
    return { cwd: directory, env, stdio: ["pipe", "pipe", "ignore"] }
  }

  function payload(event, session, fields) {
    const agent = session.parent ? { agent_id: session.id, agent_type: session.agent ?? "" } : {}
    return JSON.stringify({ event, session_id: session.main, cwd: directory, ...agent, ...fields })
  }

  // ---- what is known of a session ----

  function note(info) {
    const parent = info.parentID
    const main = parent ? (known.get(parent)?.main ?? parent) : info.id
    const isNew = (info.time?.created ?? 0) >= loadedAt
    const session = { id: info.id, parent, main, isNew, failedCalls: new Set(), briefAgainAt: 0 }
    known.set(info.id, session)
    return session
  }

  async function find(id) {
    if (known.has(id)) return known.get(id)
    const { data } = await within(client.session.get({ path: { id } }))
    if (data?.parentID) await find(data.parentID)
    return known.get(id) ?? note({ ...data, id })
  }

  // The summary that an earlier process left in the conversation. Its brief was in that process's requests only.
  async function lastSummary(id) {
    const { data } = await within(client.session.messages({ path: { id } }))
    return data?.findLast(({ info }) => info.role === "assistant" && info.summary === true)?.info.id
  }

  // ---- context for the model ----

  // Kept with the message and marked as ignored, so that titles and summaries do not hold it; see `reveal`.
  function add(output, texts) {
    const text = texts.filter(Boolean).join("\n\n")
    const last = output.parts.at(-1)
    if (!text || !last?.id) return
    const { id: messageID, sessionID } = output.message
    const part = { type: "text", text, synthetic: true, ignored: true, metadata: { throughline: CONTEXT } }
    // Parts are sorted by id.
    output.parts.push({ id: last.id + "z", sessionID, messageID, ...part })
  }

  // Shows the model what `add` has kept. Messages are replaced, not changed: the request for a title shares them. What was
  // told before a compaction is in its brief.
  function reveal(session, messages) {
    const since = session.parent ? "" : (session.summary ?? "")
    messages.forEach((message, index) => {
      if (message.info.id < since) return
      const isHidden = (part) => part.metadata?.throughline === CONTEXT && part.ignored
      if (!message.parts.some(isHidden)) return
      const parts = message.parts.map((part) => (isHidden(part) ? { ...part, ignored: false } : part))
      messages[index] = { ...message, parts }
    })
  }

  // Asked for once after a compaction, by the prompt that follows it or by a request that follows no prompt. Where `thru`
  // gave no answer, the next prompt asks again, and requests do after a while. It is a session start too.
  function brief(session, target) {
    if (!session.summary || session.parent || session.brief) return session.brief
    if (Date.now() < session.briefAgainAt) return
    const reply = ask("experimental.chat.messages.transform", session, { source: "compact" })
    if (reply.failed) return void (session.briefAgainAt = Date.now() + PAUSE)
    session.started = true
    session.brief = { text: reply.context, target }
    return session.brief
  }

  // After a compaction: one text behind the message that was the last one then, the same in every request that follows.
  function restore(session, messages) {
    if (!messages.some(({ info }) => info.id === session.summary)) return
    const isUser = ({ info }) => info.role === "user"
    const { text, target } = brief(session, messages.findLast(isUser)?.info.id) ?? {}
    const found = messages.findIndex(({ info }) => info.id === target)
    const index = found >= 0 ? found : messages.findIndex(isUser)
    if (!text || index < 0) return
    const { info, parts } = messages[index]
    const part = { id: (parts.at(-1)?.id ?? "prt_") + "z", sessionID: info.sessionID, messageID: info.id, type: "text" }
    messages[index] = { info, parts: [...parts, { ...part, text, synthetic: true }] }
  }

  // ---- the end of a turn ----

  async function stop(session) {
    if (session.stopped === session.message) return
    session.stopped = session.message
    const { turn } = session
    const text = session.said?.message === session.message ? session.said.text : ""
    const fields = { message: text, message_id: session.message, usage: session.usage }
    session.usage = undefined
    let reply = ask("session.idle", session, { ...fields, patient: false })
    if (reply.wait) reply = await askPatiently("session.idle", session, { ...fields, patient: true })
    // Meanwhile the user may have gone on: then the loop does so at the end of that turn.
    if (!reply.feed || session.turn !== turn || (session.isBusy && !endsAtIdle)) return
    // While the turn still runs it goes on with this message; else a new one begins. Without agent and model it would
    // be the default agent's.
    const parts = [{ type: "text", text: reply.feed, metadata: { throughline: LOOP } }]
    const { agent, model } = session
    await client.session.promptAsync({
      path: { id: session.id },
      body: { agent, model: model && { providerID: model.providerID, modelID: model.modelID }, parts },
    })
  }

  function stepFinished(session, part) {
    session.usage = sum(session.usage, part.tokens)
    if (session.summary === part.messageID) return
    session.message = part.messageID
    // Some providers say "stop" although there are calls to answer.
    const goesOn = part.reason === "tool-calls" || session.calling === part.messageID
    if (goesOn || ["error", "content-filter"].includes(part.reason)) return
    session.failed = false
    if (endsAtIdle && !session.parent) return stop(session)
  }

  function idle(session) {
    if (!session.message || session.stopped === session.message) return
    if (session.parent) {
      session.stopped = session.message
      return void ask("subagent.idle", session, { message: session.said?.text })
    }
    // After a call that failed there is another step, unless the user refused it or broke the turn off: that is no stop.
    const isBrokenOff = session.failed || session.refused === session.message
    // What is fed to `opencode run` now would never be answered.
    if (!isBrokenOff && !endsAtIdle) return stop(session)
  }

  // A call that failed or was refused never reaches `tool.execute.after`.
  function toolPart(session, part) {
    session.message = part.messageID
    if (!part.metadata?.providerExecuted) session.calling = part.messageID
    const { status, input, error, time } = part.state
    if (status !== "error" || session.failedCalls.has(part.callID)) return
    session.failedCalls.add(part.callID)
    session.refused = part.messageID
    const ms = time?.end && time?.start ? time.end - time.start : undefined
    ask("tool.execute.after", session, { ...call(part.tool, part.callID, input), error: String(error ?? ""), ms })
  }

  function on({ type, properties = {} }) {
    if (type === "session.created" && properties.info) return void (known.has(properties.info.id) || note(properties.info))
    const session = known.get(properties.sessionID ?? properties.info?.sessionID ?? properties.info?.id)
    if (!session) return
    if (type === "message.part.updated") {
      const { part } = properties
      if (part.type === "tool") return toolPart(session, part)
      if (part.type === "step-finish") return stepFinished(session, part)
      if (part.type === "compaction") session.trigger = part.auto ? "auto" : "manual"
      return
    }
    // A compaction that was aborted or failed ends here, and so does a command that never became a message.
    if (["session.error", "session.idle"].includes(type)) Object.assign(session, { compacting: false, command: undefined })
    // An abort between two steps is only seen on the message.
    if (type === "session.error" || (type === "message.updated" && properties.info.error)) session.failed = true
    if (type === "session.status") session.isBusy = properties.status?.type !== "idle"
    if (type === "session.idle") return idle(session)
    if (type === "session.compacted") {
      session.compacting = false
      ask("session.compacted", session, { trigger: session.trigger })
    }
    if (type === "session.deleted") {
      if (!session.parent && session.started) ask("session.deleted", session, { reason: "deleted" })
      known.delete(session.id)
    }
  }

  // ---- the hooks ----

  const hooks = {
    "chat.message": async (input, output) => {
      const session = await find(input.sessionID)
      const isOurs = output.parts.some((part) => part.metadata?.throughline === LOOP)
      const replies = []
      const { id, agent, model } = output.message
      Object.assign(session, { agent, model, turn: id, failed: false, briefAgainAt: 0 })
      if (!session.started && !session.isNew && !session.parent) session.summary ??= await lastSummary(session.id)
      brief(session, id)
      if (!session.started && (session.parent || !session.summary)) {
        const source = session.isNew ? "startup" : "resume"
        const reply = ask(session.parent ? "subagent.created" : "session.created", session, { source })
        session.started = !reply.failed
        replies.push(reply)
      }
      if (!session.parent && !isOurs) {
        const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
        const prompt = session.command ?? texts.join("\n")
        session.command = undefined
        const reply = ask("chat.message", session, { prompt, message_id: id })
        replies.push(reply)
        // A brief that is due and was not asked for comes with the prompt.
        if (session.summary && reply.context) session.brief ??= {}
      }
      add(output, replies.map((reply) => reply.context))
      const message = replies.find((reply) => reply.tell)?.tell
      if (message) within(client.tui.showToast({ body: { title: "Throughline", message, variant: "info" } })).catch(() => {})
    },

    "tool.execute.after": async (input, output) => {
      const session = await find(input.sessionID)
      const { exit, exists, files, answers } = output?.metadata ?? {}
      const isTold = ["bash", "task", "grep", "webfetch"].includes(input.tool) && output.output?.length < LARGEST_OUTPUT
      const changed = files?.map?.((file) => ({ path: file.filePath, type: file.type, to: file.movePath }))
      const result = { exit, exists, files: changed, answers, output: isTold ? output.output : undefined }
      const fields = { ...call(input.tool, input.callID, input.args), result }
      output.output = ask("tool.execute.after", session, fields).output ?? output.output
    },

    "experimental.session.compacting": async (input, output) => {
      const session = await find(input.sessionID)
      session.compacting = true
      const { guidance } = ask("experimental.session.compacting", session, { trigger: session.trigger })
      if (guidance) output.context.push(guidance)
    },

    "experimental.text.complete": async (input, output) => {
      const session = await find(input.sessionID)
      if (session.compacting) {
        session.compacting = session.failed = false
        session.summary = input.messageID
        session.brief = undefined
        // A sub-agent's summary is not the session's.
        if (!session.parent) ask("experimental.text.complete", session, { text: output.text, part_id: input.partID })
        return
      }
      const { message, text } = session.said ?? {}
      const before = message === input.messageID ? `${text}\n` : ""
      session.said = { message: input.messageID, text: before + output.text }
    },

    "experimental.chat.messages.transform": async (_, output) => {
      const session = known.get(output.messages[0]?.info.sessionID)
      // This is what the summariser gets.
      if (!session || session.compacting) return
      reveal(session, output.messages)
      restore(session, output.messages)
    },

    "shell.env": async (input, output) => {
      if (input.sessionID) output.env.OPENCODE_SESSION_ID = (await find(input.sessionID)).main
    },

    "command.execute.before": async (input, output) => {
      const command = commands.get(input.command)
      if (!command) return
      const session = await find(input.sessionID)
      session.command = `/${input.command} ${input.arguments}`.trim()
      // Here and not by `!` lines: those run where the server was started.
      const shown = command.runs.map((words) => {
        const done = spawnSync(INSTALLED.thru, words, { ...options(session), encoding: "utf8", timeout: TIMEOUT })
        return `$ thru ${words.join(" ")}\n${done.stdout ?? ""}`
      })
      const first = output.parts.find((part) => part.type === "text")
      if (first && shown.length > 0) first.text = `${shown.join("\n")}\n\n${first.text}`
    },

    // Not awaited, but called at once: what is done before the first `await` is done when the event is.
    event: async ({ event }) => on(event),

    config: async (config) => {
      for (const { name, description, template, runs } of INSTALLED.commands) {
        config.command ??= {}
        if (config.command[name]) continue
        config.command[name] = { description, template }
        commands.set(name, { runs })
      }
    },

    dispose: async () => {
      for (const session of known.values()) {
        if (session.started && !session.parent) ask("dispose", session, { reason: "dispose" })
        if (Date.now() < pausedUntil) break
      }
      known.clear()
    },
  }

  const safe = Object.entries(hooks).map(([name, hook]) => [name, (input, output) => hook(input, output).catch(() => {})])
  return Object.fromEntries(safe)
}

function call(tool, id, input) {
  const kept = ARGUMENTS.filter((name) => input?.[name] !== undefined).map((name) => [name, input[name]])
  return { tool, call_id: id, input: Object.fromEntries(kept) }
}

function sum(usage, tokens) {
  const { input = 0, cache_read = 0, cache_write = 0, output = 0 } = usage ?? {}
  const { cache } = tokens ?? {}
  return {
    input: input + (tokens?.input ?? 0),
    cache_read: cache_read + (cache?.read ?? 0),
    cache_write: cache_write + (cache?.write ?? 0),
    output: output + (tokens?.output ?? 0),
  }
}

function answer(text) {
  if (!text.trim()) return {}
  try {
    const value = JSON.parse(text)
    return Object.fromEntries(Object.entries(value).filter(([, field]) => typeof field === "string" || field === true))
  } catch {
    return { failed: true }
  }
}
