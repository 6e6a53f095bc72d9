/** The static page of last resort (S 7.2.3): read once at boot, so that nothing is left to fail when it is needed. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type ErrorPageProps, statusMessage, statusTitle } from '../problem.ts'
import { safeText } from '../values/safe-read.ts'

const maxBytes = 262_144

/** The package's own page, for when the application has none. */
const builtIn = new URL('../../assets/error.html', import.meta.url)

/** Loads from elsewhere, or runs: what a page cannot rely on while the server fails. */
const dependencies =
  /<(?:script|iframe|frame|object|embed|base)\b|<link\b[^>]*\bhref\b|\bsrc(?:set)?\s*=\s*(?!["']?data:)|@import\b|url\(\s*(?!["']?data:)|http-equiv\s*=\s*["']?refresh/i

/** The page to use, and why it is not the one asked for. */
export interface ErrorPage {
  readonly body: Buffer
  readonly warning?: string
}

/** Where an application's page lies that no option names. */
const usual = 'wwwroot/error.html'

/**
 * Reads the application's page; the package's own stands in for one that cannot be read, is empty, larger than 256 KiB
 * or not self-contained, with a warning that says so. Never throws.
 * @param file a path under the working directory; without one, the usual page counts if there is one; false asks for
 *   the package's own
 */
export async function loadErrorPage(file?: string | URL | false): Promise<ErrorPage> {
  if (file === false) return { body: await builtInPage() }
  const wanted = file ?? usual
  const { body, flaw } = await readPage(typeof wanted === 'string' ? resolve(wanted) : wanted)
  if (body) return { body }
  const isUnasked = file === undefined && flaw === missing
  const warning = `The error page ${String(wanted)} ${flaw}; the built-in page is used.`
  return { body: await builtInPage(), ...(!isUnasked && { warning }) }
}

const missing = 'does not exist'

async function readPage(path: string | URL): Promise<{ body?: Buffer; flaw?: string }> {
  try {
    const body = await readFile(path)
    const flaw = flawOf(body)
    return flaw === undefined ? { body } : { flaw }
  } catch (error) {
    const code = safeText(error, 'code')
    return { flaw: code === 'ENOENT' || code === 'ENOTDIR' ? missing : `cannot be read (${code})` }
  }
}

function flawOf(body: Buffer): string | undefined {
  if (body.length === 0) return 'is empty'
  if (body.length > maxBytes) return 'is larger than 256 KiB'
  const [found] = dependencies.exec(body.toString()) ?? []
  return found && `is not self-contained (it has "${found.slice(0, 40)}")`
}

/** The package's page about a 500. */
async function builtInPage(): Promise<Buffer> {
  return Buffer.from(
    fillIn(await builtInTemplate(), { status: 500, title: statusTitle(500), message: statusMessage(500) }),
  )
}

/** The package's page with places for `fillIn`; a bundled application that lost the file gets two lines instead. */
export async function builtInTemplate(): Promise<string> {
  return readFile(builtIn, 'utf8').catch(
    () => '<!doctype html><title>{{title}}</title><h1>{{title}}</h1><p>{{message}}</p>',
  )
}

/** The template with these words in its places, escaped. */
export function fillIn(template: string, words: ErrorPageProps): string {
  return template.replaceAll(
    /\{\{(status|title|message)\}\}/g,
    (_place, name: 'status' | 'title' | 'message') => escape(String(words[name])),
  )
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
