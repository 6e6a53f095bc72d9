// Which test files share a process: importing Fastify, TypeBox and drizzle takes longer than the tests of most files.
import { readFileSync } from 'node:fs'

/** Those of a browser hold pages, those of other packages start processes. */
const mayShare =
  /^packages\/(?:core|errors|inertia|public-routes|settings|settings-ui)\/dist-test\/(?!browser\/)/

/** A file that says so has a reason; one that uses the root of tap takes minutes, or sets up something that ends with the process. */
const runsAlone = /^(?:\/\/ Runs alone: |import t\b|import \{ t\b)/m

/** So many at most: a file whose process ends too early takes the following ones with it, which then run alone. */
const most = 12

/** The name of the test behind the last one of a file. */
export const endOf = (path) => `end of ${path}`

/** Returns the files in groups, so that no job waits for another's. */
export function groupFiles(files, jobs, readFile = (path) => readFileSync(path, 'utf8')) {
  const shared = files.filter((path) => mayShare.test(path) && !runsAlone.test(readFile(path)))
  const size = Math.min(most, Math.ceil(shared.length / jobs))
  const groups = []
  for (const path of files) {
    const last = groups.findLast((group) => shared.includes(group[0]))
    if (shared.includes(path) && last && last.length < size) last.push(path)
    else groups.push([path])
  }
  return groups
}
