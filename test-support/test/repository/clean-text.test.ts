/** What belongs to one machine or one network has no place in the repository. */
import { test } from 'tap'
import { repositoryFiles, textOf } from './sources.js'

const patterns: readonly (readonly [string, RegExp])[] = [
  ['a package registry', /https?:\/\/[\w.-]*(?:registry|npmjs|artifactory|nexus|verdaccio)[\w.-]*\.\w+/i],
  ['a path of one machine', /(?<![\w.@/-])\/(?:home\/\w|Users\/\w|root\/|work\/)/],
  ['a lockfile download address', /^\s*(?:tarball|resolved):? .*https?:/m],
]

/** Returns what a text gives away, one sentence for each kind. */
function textProblems(path: string, text: string): string[] {
  return patterns.flatMap(([kind, pattern]) => {
    const match = pattern.exec(text)
    return match ? [`${path}: ${kind}: ${match[0]}`] : []
  })
}

const binary = /\.(?:png|jpe?g|ico|woff2?|gz|br)$/

test('no tracked file names a package registry or a path of one machine', (t) => {
  const own = /\/clean-text\.test\.ts$/ // it says what is looked for
  const files = repositoryFiles().filter((path) => !binary.test(path) && !own.test(path))
  t.same(
    files.flatMap((path) => textProblems(path, textOf(path))),
    [],
  )
  t.end()
})

test('registry addresses and machine paths are found', (t) => {
  for (const text of [
    'see https://registry.example.test/fastify',
    'http://npm-registry.company.example:4873/',
    "import '/home/me/project'",
    'cd /root/app',
    '(/Users/me/x)',
    '  tarball: https://host/x.tgz',
  ]) {
    t.equal(textProblems('a.md', text).length > 0, true, text)
  }
  t.end()
})
