/** The entity tag of a row or of the store (RFC 9110, 8.8.3), as the routes, the exceptions and the client spell it. */

/** `"r12"` for revision 12; `"r0"` for what is unset. */
export function toEtag(revision: number): string {
  return `"r${revision}"`
}
