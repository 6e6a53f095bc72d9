/** Asks the server for what a page is drawn from: data, texts, styles. */
import { tenantHeaders } from './model/source.ts'

/** Milliseconds after which a request counts as unanswered. */
const timeout = 15_000

/** @throws {Error} the server did not answer, or not with what was asked for: its cause is the status, its message what the server says */
export async function request(address: string, tenant?: string, send = fetch): Promise<Response> {
  const response = await send(address, {
    // A gate does not send to its login.
    headers: { accept: 'application/json, text/css', ...tenantHeaders(tenant) },
    signal: AbortSignal.timeout(timeout),
  })
  if (response.ok) return response
  const { detail = address } = (await response.json().catch(() => ({}))) as { readonly detail?: string } // a problem document
  throw new Error(detail, { cause: response.status })
}
