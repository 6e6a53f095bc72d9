// Reads what is inside a tarball: everything that points at something points at something a reader has.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { filesBelow } from '../files.mjs'

/** Throws with every place of an unpacked package that leads nowhere. */
export function checkContent({ content, manifest }) {
  const problems = filesBelow(content).flatMap((file) => {
    const text = () => readFileSync(file, 'utf8')
    const found = []
    if (file.endsWith('.map')) found.push(...deadSources(file, JSON.parse(text())))
    if (/\.(?:js|d\.ts)$/.test(file)) found.push(...deadMaps(file, text()))
    if (file.endsWith('.d.ts')) found.push(...citations(text()))
    if (file.endsWith('.md')) found.push(...relativeLinks(text()))
    return found.map((problem) => `${manifest.name}/${relative(content, file)}: ${problem}`)
  })
  if (problems.length > 0) throw new Error(`the tarball is not complete in itself:\n${problems.join('\n')}`)
}

/** Sources that a map names without their text, and that are not in the tarball. */
export function deadSources(file, { sources, sourcesContent = [], sourceRoot = '' }) {
  return sources
    .filter((source, index) => !sourcesContent[index] && !existsSync(join(dirname(file), sourceRoot, source)))
    .map((source) => `the map names ${source}, which is missing`)
}

function deadMaps(file, text) {
  return [...text.matchAll(/^\/\/# sourceMappingURL=(?!data:)(.+)$/gm)]
    .filter(([, map]) => !existsSync(join(dirname(file), map)))
    .map(([, map]) => `names the map ${map}, which is missing`)
}

/** Numbers of the specification and of rulings: nobody who has only the package can look them up. */
export function citations(declarations) {
  return [...declarations.matchAll(/^.*\b(?:S \d|[Dd]ecisions? \d).*$/gm)].map(
    ([line]) => `cites what is not in it: ${line.trim()}`,
  )
}

/** Links that work inside the repository only. */
export function relativeLinks(markdown) {
  return [...markdown.matchAll(/\]\((?!https?:|#)([^)\s]+)\)/g)].map(([, target]) => `links to ${target}`)
}
