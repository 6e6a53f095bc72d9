/** The static page of last resort (S 7.2.3): read once at boot, so that nothing is left to fail when it is needed. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { statusMessage, statusTitle } from '../problem.ts'

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

/**
 * Reads the application's page; the package's own stands in for one that is missing, empty, larger than 256 KiB or not
 * self-contained, with a warning that says so. Never throws.
 * @param file a path under the working directory; false asks for the package's own
 */
export async function loadErrorPage(file: string | URL | false): Promise<ErrorPage> {
  if (file === false) return { body: await builtInPage() }
  const path = typeof file === 'string' ? resolve(file) : file
  const body = await readFile(path).catch(() => undefined)
  const flaw = body === undefined ? 'cannot be read' : flawOf(body)
  if (body !== undefined && flaw === undefined) return { body }
  return {
    body: await builtInPage(),
    warning: `The error page ${String(file)} ${flaw}; the built-in page is used.`,
  }
}

function flawOf(body: Buffer): string | undefined {
  if (body.length === 0) return 'is empty'
  if (body.length > maxBytes) return 'is larger than 256 KiB'
  const [found] = dependencies.exec(body.toString()) ?? []
  return found && `is not self-contained (it has "${found.slice(0, 40)}")`
}

/** The package's page; a bundled application that lost the file gets two lines instead. */
export async function builtInPage(): Promise<Buffer> {
  return readFile(builtIn).catch(() =>
    Buffer.from(
      `<!doctype html><title>${statusTitle(500)}</title><h1>${statusTitle(500)}</h1><p>${statusMessage(500)}</p>`,
    ),
  )
}
