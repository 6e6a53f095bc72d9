/** docs/concepts/architecture.md lists the files that five flows enter; here the flows run, and say which they are. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { test } from 'tap'
import { listedFiles, listProblems } from './flows/listed-files.js'
import { tempFolder } from './host.js'

const page = 'docs/concepts/architecture.md'
const program = fileURLToPath(new URL('flows/follow.js', import.meta.url))

/** The flows by the heading of their list. The lists of `afterTheGate` leave out the files of a public request. */
const headings = {
  publicRequest: 'A public request',
  refused: 'A refused request',
  exception: 'A thrown exception',
  put: 'A PUT',
  changeFromElsewhere: 'A change from another instance',
} as const
type Flow = keyof typeof headings
const flows = Object.keys(headings) as Flow[]
const afterTheGate: ReadonlySet<Flow> = new Set(['refused', 'exception', 'put'])

test('each flow enters exactly the files that the page about the architecture lists', async (t) => {
  const { url } = await testDatabase(t)
  const text = await readFile(new URL(`../../../${page}`, import.meta.url), 'utf8')
  const entered = await followFlows(await tempFolder(t), url)
  for (const flow of flows) {
    const listed = listedFiles(text, headings[flow])
    t.ok(listed.length > 3, `${page} has a list under "### ${headings[flow]}"`)
    const optional = afterTheGate.has(flow) ? entered.publicRequest : []
    t.same(listProblems({ listed, entered: entered[flow], optional }), [], `${page}, "### ${headings[flow]}"`)
  }
})

test('what a list lacks, has too much or names twice is reported', (t) => {
  const text =
    '## Flows\n\n### One\n\n`core/no.ts`\n\n1. `core/a.ts` — `x.ts`\n2. `errors/b.ts`,\n   `core/c.tsx`\n\n`core/no.ts`\n\n### Two\n\n1. `core/d.ts`\n'
  const listed = listedFiles(text, 'One')
  t.same(listed, ['core/a.ts', 'errors/b.ts', 'core/c.tsx'])
  t.same(listedFiles(text, 'Two'), ['core/d.ts'])
  t.same(listedFiles(text, 'Three'), [])
  t.same(listProblems({ listed, entered: [...listed, 'core/e.ts'], optional: ['core/e.ts'] }), [])
  t.same(
    listProblems({
      listed: [...listed, 'core/a.ts'],
      entered: ['core/a.ts', 'core/c.tsx', 'core/e.ts'],
      optional: [],
    }),
    [
      'add core/e.ts: the flow enters it',
      'remove errors/b.ts: the flow does not enter it',
      'name core/a.ts once only',
    ],
  )
  t.end()
})

async function followFlows(folder: string, url: string): Promise<Record<Flow, string[]>> {
  // A coverage run would otherwise measure that process, too.
  const env = { ...process.env, NODE_V8_COVERAGE: '' }
  const { stdout } = await promisify(execFile)(process.execPath, [program, folder, url], {
    env,
    timeout: 200_000,
  })
  return JSON.parse(stdout) as Record<Flow, string[]>
}
