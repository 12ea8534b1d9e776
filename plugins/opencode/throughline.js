// Throughline for OpenCode. Written by `thru install opencode`; `thru uninstall opencode` removes it.
//
// This plugin turns OpenCode's hooks into calls of `thru hook opencode <event>`, and passes the replies on to OpenCode.
// All decisions are made by `thru`. An error, here or in `thru`, never affects the session: no hook throws (an
// exception in `experimental.session.compacting` would leave the session stuck), and every wait has a time limit.
//
// Import only `node:` modules. OpenCode loads plugins before it installs its own packages, and offline it never
// installs them.

import { execFile, spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"

// `thru install` fills in the next line.
const INSTALLED = { thru: "thru", version: "0.0.0", patience: 300, commands: [] }

// How long `thru` may take, in milliseconds. After a timeout, and for the duration of PAUSE, reports of tool calls are
// postponed and all other events get the short timeout. So a hanging `thru` does not delay every step of a turn.
const TIMEOUT = 2_000
const SHORT_TIMEOUT = 500
const PAUSE = 10_000
const TOOL_DONE = "tool.execute.after"
const MAX_LATE_CALLS = 500
// Larger than any answer of `thru`, and larger than any output that a model sees.
const LARGEST_ANSWER = 256 * 1024
const LARGEST_OUTPUT = 1024 * 1024
// The tool arguments that `thru` gets. It never gets the content of a file.
const ARGUMENTS = ["filePath", "path", "command", "workdir", "todos", "description", "subagent_type", "questions"]

// The clients that a copy of this plugin already serves, no matter which file the copy was loaded from.
const SERVED = (globalThis[Symbol.for("throughline.opencode")] ??= new WeakSet())

export const Throughline = async ({ client, directory }) => {
  // The plugin may be installed both for the user and for the project. OpenCode gives both copies the same client, and
  // only one copy must act. A copy whose program does not start does not claim the client.
  if (SERVED.has(client)) return {}
  if (!spawnSync(INSTALLED.thru, ["--version"], { timeout: TIMEOUT, killSignal: "SIGKILL", stdio: "ignore" }).error) SERVED.add(client)
  const known = new Map()
  const commands = new Map()
  // `opencode run` and `opencode github run` exit when the session is idle, so a loop must continue the turn before
  // that. Mistaking another command with an argument `run` for one of them does no harm.
  const endsAtIdle = process.argv.slice(2).includes("run")
  const lateCalls = []
  let pausedUntil = 0

  // ---- calling thru ----
  // In a reply, `failed` means that there was no answer, and `late` that `thru` took too long.
  function ask(event, session, fields, patience) {
    if (Date.now() >= pausedUntil) reportLateCalls()
    const isPaused = Date.now() < pausedUntil
    const timeout = patience ?? (isPaused ? SHORT_TIMEOUT : TIMEOUT)
    const reply = isPaused && event === TOOL_DONE ? { late: true } : run(event, session, fields, timeout)
    // A call may be reported twice. `thru` recognises it by its id and counts it once.
    if (reply.late && event === TOOL_DONE && lateCalls.length < MAX_LATE_CALLS) lateCalls.push({ session, fields })
    return reply
  }

  function reportLateCalls() {
    const isReported = ({ session, fields }) => !run(TOOL_DONE, session, fields, SHORT_TIMEOUT).late
    while (lateCalls.length > 0 && isReported(lateCalls[0])) lateCalls.shift()
  }

  function run(event, session, fields, timeout) {
    const input = payload(event, session, fields)
    const done = spawnSync(INSTALLED.thru, ["hook", "opencode", event], { ...options(session, timeout), input })
    const late = done.error?.code === "ETIMEDOUT"
    if (late) pausedUntil = Date.now() + PAUSE
    return done.error || done.status !== 0 ? { failed: true, late } : answer(done.stdout)
  }

  // The validators of a loop may take minutes, so this call does not block other sessions.
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

  // Waits for an answer from OpenCode, with the same timeout as for `thru`. After a timeout, the result has no `data`.
  const withTimeout = (answer) => Promise.race([answer.catch(() => ({})), after(TIMEOUT)])

  function options(session, timeout) {
    const env = { ...process.env, OPENCODE_SESSION_ID: session.main }
    const limits = { timeout, killSignal: "SIGKILL", maxBuffer: LARGEST_ANSWER }
    return { cwd: directory, env, stdio: ["pipe", "pipe", "ignore"], encoding: "utf8", ...limits }
  }

  function payload(event, session, fields) {
    const agent = session.parent ? { agent_id: session.id, agent_type: session.agent ?? "" } : {}
    return JSON.stringify({ event, report_id: randomUUID(), session_id: session.main, cwd: directory, ...agent, ...fields })
  }

  // ---- sessions ----
  // `isNew` tells whether the session began in this process. It is undefined if the session may have begun in another
  // one.
  function note(info, isNew) {
    const parent = info.parentID
    const main = parent ? (known.get(parent)?.main ?? parent) : info.id
    const session = { id: info.id, parent, main, isNew, steps: [], failedCalls: new Set(), briefAgainAt: 0 }
    known.set(info.id, session)
    return session
  }

  // Throws if OpenCode does not return the session. It may be the session of a sub-agent, so nothing is reported or
  // remembered.
  async function find(id) {
    if (known.has(id)) return known.get(id)
    const get = async () => (await withTimeout(client.session.get({ path: { id } }))).data
    const data = (await get()) ?? (await get())
    if (data.parentID) await find(data.parentID)
    return known.get(id) ?? note(data)
  }

  // Reads what another process left in the conversation.
  async function lookBack(session) {
    const { data } = await withTimeout(client.session.messages({ path: { id: session.id } }))
    if (!data) return
    session.isNew = data.length === 0
    findSummary(session, data)
  }

  // If there is a newer summary, a new brief must be requested. Another process may have compacted the session, and
  // then only the requests of that process contained the brief.
  function findSummary(session, messages) {
    const isSummary = ({ info }) => info.role === "assistant" && info.summary === true && info.finish && !info.error
    const summary = messages.filter(isSummary).map(({ info }) => info.id).sort().at(-1)
    if (summary > (session.summary ?? "")) Object.assign(session, { summary, brief: undefined })
  }

  // Adds context to the message. The context is marked as ignored, so that titles and summaries do not contain it (see
  // `reveal`). The metadata lets a later process recognise our parts.
  function add(output, texts) {
    const text = texts.filter(Boolean).join("\n\n")
    const last = output.parts.at(-1)
    if (!text || !last?.id) return
    const { id: messageID, sessionID } = output.message
    const part = { type: "text", text, synthetic: true, ignored: true, metadata: { throughline: "context" } }
    // Parts are sorted by id.
    output.parts.push({ id: last.id + "z", sessionID, messageID, ...part })
  }

  // Shows the model the context that `add` stored. Messages are replaced, not changed, because the request for a title
  // shares them. Context from before a compaction stays hidden, because the brief covers it.
  function reveal(session, messages) {
    const since = session.parent ? "" : (session.summary ?? "")
    const isHidden = (part) => part.metadata?.throughline === "context" && part.ignored
    messages.forEach((message, index) => {
      if (message.info.id < since || !message.parts.some(isHidden)) return
      const parts = message.parts.map((part) => (isHidden(part) ? { ...part, ignored: false } : part))
      messages[index] = { ...message, parts }
    })
  }

  // Returns the brief after a compaction. It is requested once, at the next prompt or at a model request without a
  // prompt. If `thru` does not answer, the plugin tries again at the next prompt, or at a model request after a pause.
  // The call also reports a session start.
  function brief(session, target) {
    if (!session.summary || session.parent || session.brief) return session.brief
    if (Date.now() < session.briefAgainAt) return
    const reply = ask("experimental.chat.messages.transform", session, { source: "compact" })
    if (reply.failed) return void (session.briefAgainAt = Date.now() + PAUSE)
    session.started = true
    session.brief = { text: reply.context, target }
    return session.brief
  }

  // After a compaction, adds the brief to the message that was the user's last one when the brief was requested. Every
  // later request contains the same text in the same message.
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

  async function stop(session) {
    if (session.stopped === session.message) return
    session.stopped = session.message
    const { turn } = session
    const hasGoneOn = () => session.turn !== turn || (session.isBusy && !endsAtIdle)
    const text = session.said?.message === session.message ? session.said.text : ""
    const used = { steps: session.steps.splice(0), model: session.model?.modelID, window: session.window }
    const fields = { message: text, message_id: session.message, ...used }
    let reply = ask("session.idle", session, { ...fields, patient: false })
    // Try again, so that a loop does not end just because the machine was briefly busy.
    if (reply.late && !endsAtIdle) await after(PAUSE + SHORT_TIMEOUT)
    if (reply.late && !hasGoneOn()) reply = ask("session.idle", session, { ...fields, patient: false })
    if (reply.wait) reply = await askPatiently("session.idle", session, { ...fields, patient: true })
    // If the user has sent a message in the meantime, the loop continues at the end of the user's turn.
    if (!reply.feed || hasGoneOn()) return
    // If the turn is still running, it continues with this message; otherwise a new turn begins. The agent and the
    // model are passed on, because OpenCode would use the default agent without them.
    const parts = [{ type: "text", text: reply.feed, metadata: { throughline: "loop" } }]
    const { agent, model } = session
    const body = { agent, model: model && { providerID: model.providerID, modelID: model.modelID }, parts }
    await client.session.promptAsync({ path: { id: session.id }, body })
  }

  function stepFinished(session, part) {
    session.steps.push(part.tokens)
    if (session.summary === part.messageID) return
    session.message = part.messageID
    // Some providers report "stop" although calls are still open.
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
    // A failed call is followed by another step, unless the user refused the call or aborted the turn. Neither counts
    // as a stop.
    const isBrokenOff = session.failed || session.refused === session.message
    // `opencode run` exits now, so a prompt would never be answered.
    if (!isBrokenOff && !endsAtIdle) return stop(session)
  }

  // OpenCode does not call `tool.execute.after` for a call that failed or was refused, so such a call is reported here.
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
    // These events also follow a compaction that failed or was aborted, and a command that never became a message.
    const isOver = ["session.error", "session.idle", "session.compacted"].includes(type)
    if (isOver) Object.assign(session, { compacting: false, command: undefined })
    // An abort between two steps is visible only in the message.
    if (type === "session.error" || (type === "message.updated" && info.error)) session.failed = true
    if (type === "session.status") session.isBusy = properties.status?.type !== "idle"
    if (type === "session.idle") return idle(session)
    if (type === "session.compacted") ask("session.compacted", session, { trigger: session.trigger })
    if (type !== "session.deleted") return
    if (!session.parent && session.started) ask("session.deleted", session, { reason: "deleted" })
    known.delete(session.id)
  }

  const hooks = {
    "chat.message": async (input, output) => {
      const session = await find(input.sessionID)
      const isOurs = output.parts.some((part) => part.metadata?.throughline === "loop")
      const replies = []
      const { id, agent, model } = output.message
      Object.assign(session, { agent, model, turn: id, failed: false, briefAgainAt: 0 })
      if (session.isNew === undefined && !session.parent) await lookBack(session)
      brief(session, id)
      // If the session's past is unknown, it may have been compacted. The next request shows whether it was.
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
        // If a brief was due, the answer to the prompt contains it.
        if (reply.brief) Object.assign(session, { started: true, brief: {} })
      }
      add(output, replies.map((reply) => reply.context))
      const message = replies.find((reply) => reply.tell)?.tell
      if (message) withTimeout(client.tui.showToast({ body: { title: "Throughline", message, variant: "info" } }))
    },

    // Only this hook gets the size of the context window. The request may be for a title, which another model may
    // write, so compare the model.
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
        // A sub-agent's summary is not the summary of the session.
        if (!session.parent) ask("experimental.text.complete", session, { text: output.text, part_id: input.partID })
        return
      }
      const before = session.said?.message === input.messageID ? `${session.said.text}\n` : ""
      session.said = { message: input.messageID, text: before + output.text }
    },

    "experimental.chat.messages.transform": async (_, output) => {
      const session = known.get(output.messages[0]?.info.sessionID)
      // During a compaction, these are the messages for the summariser.
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
      // The commands run here and not as `!` lines, which would run in the folder where the server was started.
      const shown = runs.map((words) => {
        const done = spawnSync(INSTALLED.thru, words, options(session, TIMEOUT))
        return `$ thru ${words.join(" ")}\n${done.stdout ?? ""}`
      })
      const first = output.parts.find((part) => part.type === "text")
      if (first && shown.length > 0) first.text = `${shown.join("\n")}\n\n${first.text}`
    },

    // OpenCode calls this hook immediately but does not await it. Only the code before the first `await` is sure to run
    // before OpenCode continues.
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
      reportLateCalls()
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
  // Only the lines of a patch that name files are passed on.
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
