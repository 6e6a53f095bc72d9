/** Replays the transcript of the README against the real application. */
import { readFile } from 'node:fs/promises'
import { test } from 'tap'
import { startHost } from './host.js'

interface Step {
  readonly command: string
  /** What the README shows: the body, if any, and the status. */
  readonly output: readonly string[]
}

const readme = new URL('../../../README.md', import.meta.url)

function stepsOf(markdown: string): Step[] {
  return [...markdown.matchAll(/^```console\n([^]*?)^```$/gm)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [command = '', ...output] = text.trimEnd().split('\n')
        return { command, output }
      }),
  )
}

/** The words of a shell command; single quotes only. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word)
}

interface Request {
  readonly url: string
  readonly init: RequestInit
  readonly usesCookies: boolean
  readonly keepsCookies: boolean
}

/** The curl command as a request; an option that is not known fails the test. */
function requestOf(command: string): Request {
  const [program, ...words] = wordsOf(command)
  if (program !== 'curl') throw new Error(`Not a curl command: ${command}`)
  const headers = new Headers()
  let [url, method, body, usesCookies, keepsCookies] = ['', '', undefined as string | undefined, false, false]
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const value = (): string => words[++at] ?? ''
    if (word === '-sSw') value()
    else if (word === '-X') method = value()
    else if (word === '-d') body = value()
    else if (word === '-b') usesCookies = value() === 'cookies'
    else if (word === '-c') keepsCookies = value() === 'cookies'
    else if (word === '-H') {
      const [name = '', text = ''] = value().split(': ')
      headers.set(name, text)
    } else if (word.startsWith('http')) url = word
    else throw new Error(`Unknown option ${word}: ${command}`)
  }
  const init = {
    method: method || (body === undefined ? 'GET' : 'POST'),
    headers,
    ...(body !== undefined && { body }),
  }
  return { url, init, usesCookies, keepsCookies }
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** What differs from run to run. */
function normalise(text: string): string {
  return text
    .replace(/"requestId":"[^"]+"/g, '"requestId":"…"')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
    .replace(uuid, '…')
}

test('the transcript in the README is what the application answers', async (t) => {
  const steps = stepsOf(await readFile(readme, 'utf8'))
  t.equal(steps.length, 10)
  const host = await startHost(t)
  const known = new Map<string, string>() // identifiers of the README → those of this run
  let cookies = ''
  for (const { command, output } of steps) {
    const { url, init, usesCookies, keepsCookies } = requestOf(
      command.replace(uuid, (id) => known.get(id) ?? id),
    )
    const headers = new Headers(init.headers)
    if (usesCookies) headers.set('cookie', cookies)
    const answer = await fetch(url.replace('http://127.0.0.1:3000', host.url), { ...init, headers })
    const body = await answer.text()
    if (keepsCookies)
      cookies = answer.headers
        .getSetCookie()
        .map((cookie) => cookie.split(';')[0])
        .join('; ')
    const shown = output.join('\n')
    t.equal(
      normalise([body, answer.status].filter((part) => part !== '').join('\n')),
      normalise(shown),
      command,
    )
    shown.match(uuid)?.forEach((id, at) => known.set(id, body.match(uuid)?.[at] ?? id))
  }
})
