/** Slugs name problems in type URIs, codes name them in programs: one is made of the other. */

/** `NOT_FOUND` → `not-found`. */
export function slugOf(code: string): string {
  return code.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}

/** `out-of-credit` → `OUT_OF_CREDIT`. */
export function codeOf(slug: string): string {
  return slug.replaceAll('-', '_').toUpperCase()
}
