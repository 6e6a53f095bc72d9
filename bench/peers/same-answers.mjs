// Before anything is measured: do all servers do the same?
import { fork } from 'node:child_process'
import { messageOf } from '../support/message.mjs'

/** What node:http says in a head, or says of a body that is compared anyway. */
const unsaid = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive'])

/**
 * Asks every server ({ name: URL of a script that calls `serve` }) every request ({ name: { path, headers, status } })
 * and fails, with every difference, unless the answers are those of the first server. `exempt(server, request)` names
 * the answers of which only the status must be right.
 */
export async function requireSameAnswers(scripts, requests, exempt) {
  const names = Object.keys(scripts)
  const answers = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await answersOf(scripts[name], requests)])),
  )
  const differences = names.flatMap((name) =>
    Object.keys(requests).flatMap((request) => {
      const expected = answers[names[0]][request]
      const found = answers[name][request]
      const same = exempt(name, request) || JSON.stringify(found) === JSON.stringify(expected)
      const right = same && found.status === requests[request].status
      return right ? [] : [`${request}: ${name} answers ${show(found)}\n  ${names[0]} ${show(expected)}`]
    }),
  )
  if (differences.length > 0) throw new Error(`The servers do not do the same.\n${differences.join('\n')}`)
}

async function answersOf(script, requests) {
  const child = fork(script)
  try {
    const { port } = await messageOf(child)
    const answers = {}
    for (const [name, request] of Object.entries(requests)) answers[name] = await answerOf(port, request)
    return answers
  } finally {
    if (child.connected) child.disconnect()
  }
}

async function answerOf(port, { path, headers }) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers,
    signal: AbortSignal.timeout(10_000),
  })
  const [mediaType] = response.headers.get('content-type')?.split(';') ?? []
  const body = await response.text()
  return {
    status: response.status,
    mediaType, // JSON has no charset (RFC 8259 § 11): some frameworks name one all the same
    head: [...response.headers].filter(([name]) => !unsaid.has(name)), // sorted by name
    body: body.replace(/"requestId":"[^"]+"/, '"requestId":""'),
  }
}

const show = (answer) => JSON.stringify(answer).slice(0, 600)
