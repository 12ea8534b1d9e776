// Throughline for OpenCode. Written by `thru install opencode`; `thru uninstall opencode` removes it.
//
// A shim: it turns OpenCode's hooks into calls of `thru hook opencode <event>` and puts the answers where OpenCode takes
// them. Every rule is in the binary. Whatever goes wrong here or there changes nothing for the session: no hook throws
// (in `experimental.session.compacting` that would leave the session stuck), and `thru` gets two seconds.
//
// Only `node:` modules: OpenCode loads plugins before its own packages are installed, and without them where it is offline.

import { spawn, spawnSync } from "node:child_process"

// The next line is filled in by `thru install`.
const INSTALLED = { thru: "thru", version: "0.0.0", patience: 300, commands: [] }

// How long `thru` may take, in milliseconds, and for how long it is left alone after it took longer.
const TIMEOUT = 2_000
const PAUSE = 10_000

// More than any answer has, and more than any output that a model is shown.
const LARGEST_ANSWER = 256 * 1024
const LARGEST_OUTPUT = 1024 * 1024

// What is passed on of a tool's arguments: never the text of a file.
const ARGUMENTS = ["filePath", "path", "command", "workdir", "patchText", "todos", "description", "subagent_type", "questions"]

// How the parts that are ours are known again, also by a later process: in their metadata.
const CONTEXT = "context"
const LOOP = "loop"

export const Throughline = async ({ client, directory }) => {
  const loadedAt = Date.now()
  const known = new Map()
  const commands = new Map()
  // `opencode run` exits when its session is idle: what is to go on must be said before.
  const words = process.argv.slice(2)
  const isCommand = (word, at) => !word.startsWith("-") && words[at - 1] !== "--log-level"
  const endsAtIdle = words.find(isCommand) === "run"
  let pausedUntil = 0

  // ---- calling thru ----

  function ask(event, session, fields) {
    if (Date.now() < pausedUntil) return {}
    const done = spawnSync(INSTALLED.thru, ["hook", "opencode", event], {
      ...options(session),
      input: payload(event, session, fields),
      encoding: "utf8",
      timeout: TIMEOUT,
      killSignal: "SIGKILL",
      maxBuffer: LARGEST_ANSWER,
      stdio: ["pipe", "pipe", "ignore"],
    })
    if (done.error?.code === "ETIMEDOUT" || done.signal === "SIGKILL") pausedUntil = Date.now() + PAUSE
    return done.error || done.status !== 0 ? {} : answer(done.stdout)
  }

  // A loop's validators may take minutes: nobody else waits for them.
  function askPatiently(event, session, fields) {
    const timeout = INSTALLED.patience * 1000 + TIMEOUT
    if (endsAtIdle) {
      const done = spawnSync(INSTALLED.thru, ["hook", "opencode", event], {
        ...options(session),
        input: payload(event, session, fields),
        encoding: "utf8",
        timeout,
        maxBuffer: LARGEST_ANSWER,
        stdio: ["pipe", "pipe", "ignore"],
      })
      return Promise.resolve(done.error || done.status !== 0 ? {} : answer(done.stdout))
    }
    return new Promise((resolve) => {
      let text = ""
      const child = spawn(INSTALLED.thru, ["hook", "opencode", event], {
        ...options(session),
        timeout,
        stdio: ["pipe", "pipe", "ignore"],
      })
      child.on("error", () => resolve({}))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (data) => {
        if (text.length < LARGEST_ANSWER) text += data
      })
      child.on("close", (code) => resolve(code === 0 ? answer(text) : {}))
      child.stdin.end(payload(event, session, fields))
    })
  }

  function options(session) {
    return { cwd: directory, env: { ...process.env, OPENCODE_SESSION_ID: session.main } }
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
    const session = { id: info.id, parent, main, isNew, failedCalls: new Set() }
    known.set(info.id, session)
    return session
  }

  async function find(id) {
    if (known.has(id)) return known.get(id)
    const info = (await client.session.get({ path: { id } })).data ?? { id }
    if (info.parentID) await find(info.parentID)
    return known.get(id) ?? note({ ...info, id })
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

  // Shows the model what `add` has kept. Messages are replaced, not changed: the request for a title shares them.
  function reveal(messages) {
    messages.forEach((message, index) => {
      const isHidden = (part) => part.metadata?.throughline === CONTEXT && part.ignored
      if (!message.parts.some(isHidden)) return
      const parts = message.parts.map((part) => (isHidden(part) ? { ...part, ignored: false } : part))
      messages[index] = { ...message, parts }
    })
  }

  // Asked for once after a compaction: by the prompt that follows it, or by a request that follows no prompt.
  function brief(session, target) {
    if (!session.summary || session.parent) return
    session.brief ??= { ...ask("experimental.chat.messages.transform", session, { source: "compact" }), target }
    return session.brief
  }

  // After a compaction: one text behind the message that was the last one then, the same in every request that follows.
  function restore(session, messages) {
    if (!messages.some(({ info }) => info.id === session.summary)) return
    const isUser = ({ info }) => info.role === "user"
    const { context: text, target } = brief(session, messages.findLast(isUser)?.info.id) ?? {}
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
    const text = session.said?.message === session.message ? session.said.text : ""
    const fields = { message: text, message_id: session.message, usage: session.usage }
    session.usage = undefined
    let reply = ask("session.idle", session, { ...fields, patient: false })
    if (reply.wait) reply = await askPatiently("session.idle", session, { ...fields, patient: true })
    if (!reply.feed) return
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
    const isOver = ["stop", "length"].includes(part.reason) && session.calling !== part.messageID
    if (!isOver) return
    session.failed = false
    if (endsAtIdle && !session.parent) return stop(session)
  }

  function idle(session) {
    if (!session.parent) return session.failed || !session.message ? undefined : stop(session)
    if (session.stopped === session.message) return
    session.stopped = session.message
    ask("subagent.idle", session, { message: session.said?.text })
  }

  // A call that failed or was refused never reaches `tool.execute.after`.
  function toolPart(session, part) {
    session.calling = part.messageID
    const { status, input, error, time } = part.state
    if (status !== "error" || session.failedCalls.has(part.callID)) return
    session.failedCalls.add(part.callID)
    const ms = time?.end && time?.start ? time.end - time.start : undefined
    ask("tool.execute.after", session, { ...call(part.tool, part.callID, input), error: String(error ?? ""), ms })
  }

  function on({ type, properties = {} }) {
    if (type === "session.created" && properties.info) return void (known.has(properties.info.id) || note(properties.info))
    const session = known.get(properties.sessionID ?? properties.info?.id)
    if (!session) return
    if (type === "message.part.updated") {
      const { part } = properties
      if (part.type === "tool") return toolPart(session, part)
      if (part.type === "step-finish") return stepFinished(session, part)
      if (part.type === "compaction") session.trigger = part.auto ? "auto" : "manual"
      return
    }
    // A compaction that was aborted or failed ends here, and so does a command that never became a message.
    if (type === "session.error" || type === "session.idle") {
      session.compacting = false
      session.command = undefined
    }
    if (type === "session.error") session.failed = true
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
      session.agent = output.message.agent
      session.model = output.message.model
      session.failed = false
      if (!session.started) {
        session.started = true
        const source = session.isNew ? "startup" : "resume"
        replies.push(ask(session.parent ? "subagent.created" : "session.created", session, { source }))
      }
      brief(session, output.message.id)
      if (!session.parent && !isOurs) {
        const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
        const prompt = session.command ?? texts.join("\n")
        session.command = undefined
        replies.push(ask("chat.message", session, { prompt, message_id: output.message.id }))
      }
      add(output, replies.map((reply) => reply.context))
      const message = replies.find((reply) => reply.tell)?.tell
      if (message) await client.tui.showToast({ body: { title: "Throughline", message, variant: "info" } })
    },

    "tool.execute.after": async (input, output) => {
      const session = await find(input.sessionID)
      const { exit, exists, files, answers } = output?.metadata ?? {}
      const isTold = ["bash", "task"].includes(input.tool) && output.output?.length < LARGEST_OUTPUT
      const changed = files?.map?.((file) => ({ path: file.filePath, type: file.type, to: file.movePath }))
      const result = { exit, exists, files: changed, answers, output: isTold ? output.output : undefined }
      ask("tool.execute.after", session, { ...call(input.tool, input.callID, input.args), result })
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
      reveal(output.messages)
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
  }

  const safe = Object.entries(hooks).map(([name, hook]) => [name, (input, output) => hook(input, output).catch(() => {})])

  return {
    ...Object.fromEntries(safe),

    // Not awaited, but called at once: what is done before the first `await` is done when the event is.
    event: async ({ event }) => {
      try {
        await on(event)
      } catch {}
    },

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
      }
      known.clear()
    },
  }
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
  try {
    const value = JSON.parse(text)
    const texts = Object.entries(value).filter(([, field]) => typeof field === "string" || field === true)
    return Object.fromEntries(texts)
  } catch {
    return {}
  }
}
