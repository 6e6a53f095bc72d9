/** Replays what a document shows of curl against a running application. */

/** What a test hands over to compare; tap's `t` is one. */
interface Comparison {
  equal(found: string, wanted: string, message: string): unknown
}

interface Step {
  readonly command: string
  /** What the document shows: the body, if any, and the status. */
  readonly output: readonly string[]
}

/** The blocks `console` of a document, or of a part of one. */
export function stepsOf(markdown: string): Step[] {
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

/** Sends each request to the application at `url`, and compares the answers. Cookies are kept from step to step. */
export async function replay(t: Comparison, steps: readonly Step[], url: string): Promise<void> {
  const known = new Map<string, string>() // identifiers of the document → those of this run
  let cookies = ''
  for (const { command, output } of steps) {
    const request = requestOf(command.replace(uuid, (id) => known.get(id) ?? id))
    const headers = new Headers(request.init.headers)
    if (request.usesCookies) headers.set('cookie', cookies)
    const address = request.url.replace('http://127.0.0.1:3000', url)
    const answer = await fetch(address, { ...request.init, headers, redirect: 'manual' })
    const body = await answer.text()
    if (request.keepsCookies)
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
}

/** The words of a shell command; single quotes only. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word)
}

interface Request {
  /** As the command has it. */
  readonly url: string
  readonly init: RequestInit
  readonly usesCookies: boolean
  readonly keepsCookies: boolean
}

/** The curl command as a request; an option that is not known fails the test. */
export function requestOf(command: string): Request {
  const [program, ...words] = wordsOf(command)
  if (program !== 'curl') throw new Error(`Not a curl command: ${command}`)
  const headers = new Headers()
  let [url, method, body, usesCookies, keepsCookies] = ['', '', undefined as string | undefined, false, false]
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const value = (): string => words[++at] ?? ''
    if (word === '-sSw') value()
    else if (word === '-i') continue
    else if (word === '-X') method = value()
    else if (word === '-d') body = value()
    else if (word === '-b') usesCookies = value() === 'cookies'
    else if (word === '-c') keepsCookies = value() === 'cookies'
    else if (word === '-H') {
      const [name = '', text = ''] = value().split(': ')
      headers.set(name, text)
    } else if (/^(?:http:\/\/|localhost:)/.test(word)) url = word
    else throw new Error(`Unknown option ${word}: ${command}`)
  }
  // As curl sends a body whose type is not named.
  if (body !== undefined && !headers.has('content-type'))
    headers.set('content-type', 'application/x-www-form-urlencoded')
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
