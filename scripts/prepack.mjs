// Runs before a package is packed, in its folder: the declarations that are published lose the numbers of the
// specification and of rulings, which a reader of the source can look up and a reader of the tarball cannot.
import { readFileSync, writeFileSync } from 'node:fs'
import { filesBelow } from './files.mjs'

/** ` (S 3.2, decision 18)`, also at the start of a comment's line; and the end of `(option x; decision 62)`. */
const citations = [
  /(?:\s*\n\s*\*)?\s*\((?:S|[Dd]ecisions?) \d[^()]*\)/g,
  /[,;] (?:S|decisions?) \d[^()]*(?=\))/g,
]

/** Returns the text of a declaration file without citations in parentheses. */
export function withoutCitations(text) {
  return citations.reduce((rest, citation) => rest.replaceAll(citation, ''), text)
}

if (process.argv[1] === import.meta.filename) {
  for (const file of filesBelow('dist').filter((path) => path.endsWith('.d.ts'))) {
    const text = readFileSync(file, 'utf8')
    const cleaned = withoutCitations(text)
    if (cleaned !== text) writeFileSync(file, cleaned)
  }
}
