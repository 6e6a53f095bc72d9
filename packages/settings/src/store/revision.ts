/** Names of revisions. */

/** A write of System and Application values. */
export interface Revision {
  /** Its number; 0 before the first write. */
  readonly revision: number
  /**
   * Eight random hexadecimal digits that it was written with. A database that was restored comes to the same numbers again,
   * with other tokens.
   */
  readonly token: string
}

/** Before the first write. */
export const noRevision: Revision = { revision: 0, token: '00000000' }

/** One text for both, such as `43-9c1e07d2`. */
export function revisionId({ revision, token }: Revision): string {
  return `${revision}-${token}`
}

/** Reads what a database has for its last revision. */
export function toRevision(stored: unknown): Revision {
  return parseRevision(typeof stored === 'string' ? stored : undefined) ?? noRevision
}

/** Reads what `revisionId` wrote; a number alone is a revision without a token. Undefined for other texts. */
export function parseRevision(id: string | undefined): Revision | undefined {
  const [, revision, token = noRevision.token] = /^(\d{1,15})(?:-([0-9a-f]{8}))?$/.exec(id ?? '') ?? []
  return revision === undefined ? undefined : { revision: Number(revision), token }
}
