import { test } from 'tap'
import { textProblems } from './clean-text.js'
import { repositoryFiles, textOf } from './sources.js'

const binary = /\.(?:png|jpe?g|ico|woff2?|gz|br)$/

test('no tracked file names a package registry or a path of one machine', (t) => {
  const own = /\/clean-text\.test\.ts$/ // its examples below are what is looked for
  const files = repositoryFiles().filter((path) => !binary.test(path) && !own.test(path))
  t.same(
    files.flatMap((path) => textProblems(path, textOf(path))),
    [],
  )
  t.end()
})

test('registry addresses and machine paths are found, ordinary text is not', (t) => {
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
  for (const text of [
    'a registry of routes',
    '/workers/',
    'https://example.com/home/x',
    './work/x',
    '/homepage',
  ]) {
    t.same(textProblems('a.md', text), [], text)
  }
  t.end()
})
