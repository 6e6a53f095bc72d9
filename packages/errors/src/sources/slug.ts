/** Slugs name problems in type URIs, codes name them in programs: one is made of the other. */

/** Codes are few; the bound is for an application that makes them up. */
const slugs = new Map<string, string>()
const maxSlugs = 1000

/** `NOT_FOUND` → `not-found`. */
export function slugOf(code: string): string {
  let slug = slugs.get(code)
  if (slug === undefined) {
    slug = code.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
    if (slugs.size < maxSlugs) slugs.set(code, slug)
  }
  return slug
}

/** `out-of-credit` → `OUT_OF_CREDIT`. */
export function codeOf(slug: string): string {
  return slug.replaceAll('-', '_').toUpperCase()
}
