// Throughline for OpenCode. Written by `thru install opencode`; `thru uninstall opencode` removes it.
//
// A shim: it turns OpenCode's hooks into calls of `thru hook opencode <event>` and puts the answers where OpenCode takes
// them. Every rule is in the binary. Whatever goes wrong here or there changes nothing for the session: no hook throws
// (in `experimental.session.compacting` that would leave the session stuck), and nothing is waited for without a limit.
//
// Only `node:` modules: OpenCode loads plugins before its own packages are installed, and without them where it is offline.

import { execFile, spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"

// The next line is filled in by `thru install`.
const INSTALLED = { thru: "thru", version: "0.0.0", patience: 300, commands: [] }

// How long `thru` may take, in milliseconds. For a while after it took longer, tool calls are reported later and everything else
// gets the short time: a `thru` that hangs must not hold up every step of a turn.
const TIMEOUT = 2_000
const SHORT_TIMEOUT = 500
const PAUSE = 10_000
const TOOL_DONE = "tool.execute.after"
const MOST_OWED = 500
// More than any answer has, and more than any output that a model is shown.
const LARGEST_ANSWER = 256 * 1024
const LARGEST_OUTPUT = 1024 * 1024
// What is passed on of a tool's arguments: never the text of a file.
const ARGUMENTS = ["filePath", "path", "command", "workdir", "todos", "description", "subagent_type", "questions"]

// The clients that a copy of this plugin serves already, whichever file it was loaded from.
const SERVED = (globalThis[Symbol.for("throughline.opencode")] ??= new WeakSet())

export const Throughline = async ({ client, directory }) => {
  // Installed for the user and for the project too: OpenCode gives both copies the same client, and one is enough. A copy
  // whose program does not start leaves the other one to it.
  if (SERVED.has(client)) return {}
  if (!spawnSync(INSTALLED.thru, ["--version"], { timeout: TIMEOUT, killSignal: "SIGKILL", stdio: "ignore" }).error) SERVED.add(client)
  const known = new Map()
  const commands = new Map()
  // `opencode run` and `opencode github run` exit when the session is idle: what is to go on must be said before. It does
  // no harm elsewhere.
  const endsAtIdle = process.argv.slice(2).includes("run")
  const owed = []
  let pausedUntil = 0

  // ---- calling thru ----
  // `failed`: there was no answer, and nothing may be concluded from that. `late`: it took too long.
  function ask(event, session, fields, patience) {
    if (Date.now() >= pausedUntil) tellOwed()
    const isPaused = Date.now() < pausedUntil
    const timeout = patience ?? (isPaused ? SHORT_TIMEOUT : TIMEOUT)
    const reply = isPaused && event === TOOL_DONE ? { late: true } : run(event, session, fields, timeout)
    // To tell a call twice does no harm: it counts once, by its id.
    if (reply.late && event === TOOL_DONE && owed.length < MOST_OWED) owed.push({ session, fields })
    return reply
  }

  function tellOwed() {
    while (owed.length > 0 && !run(TOOL_DONE, owed[0].session, owed[0].fields, SHORT_TIMEOUT).late) owed.shift()
  }

  function run(event, session, fields, timeout) {
    const input = payload(event, session, fields)
    const done = spawnSync(INSTALLED.thru, ["hook", "opencode", event], { ...options(session, timeout), input })
    const late = done.error?.code === "ETIMEDOUT"
    if (late) pausedUntil = Date.now() + PAUSE
    return done.error || done.status !== 0 ? { failed: true, late } : answer(done.stdout)
  }

  // A loop's validators may take minutes: nobody else waits for them.
  function askPatiently(event, session, fields) {
    const timeout = INSTALLED.patience * 1000 + TIMEOUT
    if (endsAtIdle) return ask(event, session, fields, timeout)
    return new Promise((resolve) => {
      const done = (error, stdout) => resolve(error ? { failed: true } : answer(stdout))
      const child = execFile(INSTALLED.thru, ["hook", "opencode", event], options(session, timeout), done)
      child.stdin.on("error", () => {})
      child.stdin.end(payload(event, session, fields))
    })
  }

  // OpenCode's own answers are waited for no longer than ours. Without one there is no `data`.
  const within = (answer) => Promise.race([answer.catch(() => ({})), after(TIMEOUT)])

  function options(session, timeout) {
    const env = { ...process.env, OPENCODE_SESSION_ID: session.main }
    const limits = { timeout, killSignal: "SIGKILL", maxBuffer: LARGEST_ANSWER }
    return { cwd: directory, env, stdio: ["pipe", "pipe", "ignore"], encoding: "utf8", ...limits }
  }

  function payload(event, session, fields) {
    const agent = session.parent ? { agent_id: session.id, agent_type: session.agent ?? "" } : {}
    return JSON.stringify({ event, report_id: randomUUID(), session_id: session.main, cwd: directory, ...agent, ...fields })
  }

  // ---- what is known of a session ----
  // `isNew`: it began in this process. Unknown at first if another process may have begun it.
  function note(info, isNew) {
    const parent = info.parentID
    const main = parent ? (known.get(parent)?.main ?? parent) : info.id
    const session = { id: info.id, parent, main, isNew, steps: [], failedCalls: new Set(), briefAgainAt: 0 }
    known.set(info.id, session)
    return session
  }

  // If OpenCode does not say whose session it is, nothing is reported and nothing remembered: it may be a sub-agent's.
  async function find(id) {
    if (known.has(id)) return known.get(id)
    const get = async () => (await within(client.session.get({ path: { id } }))).data
    const data = (await get()) ?? (await get())
    if (data.parentID) await find(data.parentID)
    return known.get(id) ?? note(data)
  }

  // What another process left in the conversation.
  async function lookBack(session) {
    const { data } = await within(client.session.messages({ path: { id: session.id } }))
    if (!data) return
    session.isNew = data.length === 0
    findSummary(session, data)
  }

  // Its brief was in the requests of the process that compacted.
  function findSummary(session, messages) {
    const isSummary = ({ info }) => info.role === "assistant" && info.summary === true && info.finish && !info.error
    const summary = messages.filter(isSummary).map(({ info }) => info.id).sort().at(-1)
    if (summary > (session.summary ?? "")) Object.assign(session, { summary, brief: undefined })
  }

  // ---- context for the model ----
  // Kept with the message and marked as ignored, so that titles and summaries do not hold it; see `reveal`. A later process
  // knows our parts by their metadata.
  function add(output, texts) {
    const text = texts.filter(Boolean).join("\n\n")
    const last = output.parts.at(-1)
    if (!text || !last?.id) return
    const { id: messageID, sessionID } = output.message
    const part = { type: "text", text, synthetic: true, ignored: true, metadata: { throughline: "context" } }
    // Parts are sorted by id.
    output.parts.push({ id: last.id + "z", sessionID, messageID, ...part })
  }

  // Shows the model what `add` has kept. Messages are replaced, not changed: the request for a title shares them. What the
  // model was told before a compaction is in its brief.
  function reveal(session, messages) {
    const since = session.parent ? "" : (session.summary ?? "")
    const isHidden = (part) => part.metadata?.throughline === "context" && part.ignored
    messages.forEach((message, index) => {
      if (message.info.id < since || !message.parts.some(isHidden)) return
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
    const hasGoneOn = () => session.turn !== turn || (session.isBusy && !endsAtIdle)
    const text = session.said?.message === session.message ? session.said.text : ""
    const used = { steps: session.steps.splice(0), model: session.model?.modelID, window: session.window }
    const fields = { message: text, message_id: session.message, ...used }
    let reply = ask("session.idle", session, { ...fields, patient: false })
    // A loop does not end because the machine was busy for a moment.
    if (reply.late && !endsAtIdle) await after(PAUSE + SHORT_TIMEOUT)
    if (reply.late && !hasGoneOn()) reply = ask("session.idle", session, { ...fields, patient: false })
    if (reply.wait) reply = await askPatiently("session.idle", session, { ...fields, patient: true })
    // Meanwhile the user may have gone on: then the loop does so at the end of that turn.
    if (!reply.feed || hasGoneOn()) return
    // While the turn still runs it goes on with this message; else a new one begins. Without agent and model it would
    // be the default agent's.
    const parts = [{ type: "text", text: reply.feed, metadata: { throughline: "loop" } }]
    const { agent, model } = session
    const body = { agent, model: model && { providerID: model.providerID, modelID: model.modelID }, parts }
    await client.session.promptAsync({ path: { id: session.id }, body })
  }

  function stepFinished(session, part) {
    session.steps.push(part.tokens)
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
    // After a call that failed there is another step, unless the user refused it or broke the turn off: that is not a stop.
    const isBrokenOff = session.failed || session.refused === session.message
    // A prompt that is sent to `opencode run` now would never be answered.
    if (!isBrokenOff && !endsAtIdle) return stop(session)
  }

  // A call that failed or was refused never reaches `tool.execute.after`.
  function toolPart(session, part) {
    session.message = part.messageID
    const isRunHere = !part.metadata?.providerExecuted
    if (isRunHere) session.calling = part.messageID
    const { status, input, error, time } = part.state
    if (status !== "error" || session.failedCalls.has(part.callID)) return
    session.failedCalls.add(part.callID)
    if (isRunHere) session.refused = part.messageID
    const ms = time?.end && time.start ? time.end - time.start : undefined
    ask(TOOL_DONE, session, { ...call(part.tool, part.callID, input), error: String(error ?? ""), ms })
  }

  function on({ type, properties = {} }) {
    const { info } = properties
    if (type === "session.created" && info) return void (known.has(info.id) || note(info, true))
    const session = known.get(properties.sessionID ?? info?.sessionID ?? info?.id)
    if (!session) return
    if (type === "message.part.updated") {
      const { part } = properties
      if (part.type === "tool") return toolPart(session, part)
      if (part.type === "step-finish") return stepFinished(session, part)
      if (part.type === "compaction") session.trigger = part.auto ? "auto" : "manual"
      return
    }
    // A compaction that was aborted or failed ends here, and so does a command that never became a message.
    const isOver = ["session.error", "session.idle", "session.compacted"].includes(type)
    if (isOver) Object.assign(session, { compacting: false, command: undefined })
    // An abort between two steps is only seen on the message.
    if (type === "session.error" || (type === "message.updated" && info.error)) session.failed = true
    if (type === "session.status") session.isBusy = properties.status?.type !== "idle"
    if (type === "session.idle") return idle(session)
    if (type === "session.compacted") ask("session.compacted", session, { trigger: session.trigger })
    if (type !== "session.deleted") return
    if (!session.parent && session.started) ask("session.deleted", session, { reason: "deleted" })
    known.delete(session.id)
  }

  // ---- the hooks ----
  const hooks = {
    "chat.message": async (input, output) => {
      const session = await find(input.sessionID)
      const isOurs = output.parts.some((part) => part.metadata?.throughline === "loop")
      const replies = []
      const { id, agent, model } = output.message
      Object.assign(session, { agent, model, turn: id, failed: false, briefAgainAt: 0 })
      if (session.isNew === undefined && !session.parent) await lookBack(session)
      brief(session, id)
      // As long as nothing is known of its past, it may have been compacted: the request that follows shows it.
      if (!session.started && (session.parent || (session.isNew !== undefined && !session.summary))) {
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
        // A brief that is due and was not given comes with the prompt.
        if (reply.brief) Object.assign(session, { started: true, brief: {} })
      }
      add(output, replies.map((reply) => reply.context))
      const message = replies.find((reply) => reply.tell)?.tell
      if (message) within(client.tui.showToast({ body: { title: "Throughline", message, variant: "info" } }))
    },

    // Only this hook knows how large the window is. A title may be another model's work.
    "chat.params": async ({ sessionID, model }) => {
      const session = known.get(sessionID)
      if (session?.model?.modelID === model.id) session.window = model.limit?.context
    },

    "tool.execute.after": async (input, output) => {
      const session = await find(input.sessionID)
      const { exit, exists, files, answers } = output?.metadata ?? {}
      const isTold = ["bash", "task", "grep", "webfetch"].includes(input.tool) && output.output?.length < LARGEST_OUTPUT
      const changed = files?.map?.((file) => ({ path: file.filePath, type: file.type, to: file.movePath }))
      const result = { exit, exists, files: changed, answers, output: isTold ? output.output : undefined }
      const fields = { ...call(input.tool, input.callID, input.args), result }
      output.output = ask(TOOL_DONE, session, fields).output ?? output.output
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
        Object.assign(session, { compacting: false, failed: false, summary: input.messageID, brief: undefined })
        // A sub-agent's summary is not the session's.
        if (!session.parent) ask("experimental.text.complete", session, { text: output.text, part_id: input.partID })
        return
      }
      const before = session.said?.message === input.messageID ? `${session.said.text}\n` : ""
      session.said = { message: input.messageID, text: before + output.text }
    },

    "experimental.chat.messages.transform": async (_, output) => {
      const session = known.get(output.messages[0]?.info.sessionID)
      // This is what the summariser gets.
      if (!session || session.compacting) return
      findSummary(session, output.messages)
      reveal(session, output.messages)
      restore(session, output.messages)
    },
    "shell.env": async (input, output) => {
      if (input.sessionID) output.env.OPENCODE_SESSION_ID = (await find(input.sessionID)).main
    },

    "command.execute.before": async (input, output) => {
      const runs = commands.get(input.command)
      if (!runs) return
      const session = await find(input.sessionID)
      session.command = `/${input.command} ${input.arguments}`.trim()
      // Here and not by `!` lines: those run where the server was started.
      const shown = runs.map((words) => {
        const done = spawnSync(INSTALLED.thru, words, options(session, TIMEOUT))
        return `$ thru ${words.join(" ")}\n${done.stdout ?? ""}`
      })
      const first = output.parts.find((part) => part.type === "text")
      if (first && shown.length > 0) first.text = `${shown.join("\n")}\n\n${first.text}`
    },

    // Not awaited, but called at once: what is done before the first `await` is done when the event is.
    event: async ({ event }) => on(event),
    config: async (config) => {
      config.command ??= {}
      for (const { name, description, template, runs } of INSTALLED.commands) {
        if (config.command[name]) continue
        config.command[name] = { description, template }
        commands.set(name, runs)
      }
    },
    dispose: async () => {
      tellOwed()
      const started = [...known.values()].filter((session) => session.started && !session.parent)
      started.every((session) => !ask("dispose", session, { reason: "dispose" }).late)
    },
  }

  const safe = Object.entries(hooks).map(([name, hook]) => [name, (input, output) => hook(input, output).catch(() => {})])
  return Object.fromEntries(safe)
}

const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms, {}).unref())

function call(tool, id, input) {
  const kept = ARGUMENTS.map((name) => [name, input?.[name]])
  // Of a patch the lines that name files.
  const patchText = typeof input?.patchText === "string" ? input.patchText.match(/^\*\*\* .*$/gm)?.join("\n") : undefined
  return { tool, call_id: id, input: { ...Object.fromEntries(kept), patchText } }
}

function answer(text) {
  try {
    const fields = Object.entries(text.trim() ? JSON.parse(text) : {})
    return Object.fromEntries(fields.filter(([, field]) => typeof field === "string" || field === true))
  } catch {
    return { failed: true }
  }
}
