/** Paths as seen from another: what a page may use behind a proxy that strips a prefix. */
import { posix } from 'node:path'

/** `/settings/manage`, `/api/settings` → `../api/settings`. Never empty, and never an absolute path. */
export function relativePath(from: string, to: string): string {
  const folder = from.endsWith('/') ? from : posix.dirname(from)
  const path = posix.relative(folder, to)
  const slash = to.endsWith('/') && path !== '' ? '/' : ''
  return path === '' ? './' : `${path.startsWith('.') ? '' : './'}${path}${slash}`
}
