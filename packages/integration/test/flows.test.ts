/** docs/concepts/architecture.md names the files of some flows; here they run, and say which files they enter. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { test } from 'tap'

const page = 'docs/concepts/architecture.md'
const program = fileURLToPath(new URL('flows/follow.js', import.meta.url))

/** The flows by the heading of their list. */
const headings = {
  publicRequest: 'A public request',
  refusedRequest: 'A refused request',
  exception: 'A thrown exception',
  put: 'A PUT, its event, and another instance',
  putBack: 'A change that nobody keeps',
} as const
type Flow = keyof typeof headings
const flows = Object.keys(headings) as Flow[]

/** Longer ones are read by nobody. */
const mostLines = 12

test('each flow enters the files that the page about the architecture names for it', async (t) => {
  const { url } = await testDatabase(t)
  const text = await readFile(new URL(`../../../${page}`, import.meta.url), 'utf8')
  const entered = await followFlows(t.testdir(), url)
  for (const flow of flows) {
    const { lines, files } = listUnder(text, headings[flow])
    t.ok(lines > 3 && lines <= mostLines, `${page}, "### ${headings[flow]}": ${lines} lines`)
    const strangers = files.filter((file) => !entered[flow].includes(file))
    t.same(strangers, [], `${page}, "### ${headings[flow]}" names no file that the flow does not enter`)
  }
})

test('a list has the files of its items, and ends with its section', (t) => {
  const text =
    '## Flows\n\n### One\n\n`core/no.ts`\n\n1. `core/a.ts` — `x.ts`\n2. `errors/b.ts`,\n   `core/c.tsx`\n\n`core/no.ts`\n\n### Two\n\n1. `core/d.ts`\n'
  t.same(listUnder(text, 'One'), { lines: 3, files: ['core/a.ts', 'errors/b.ts', 'core/c.tsx'] })
  t.same(listUnder(text, 'Two'), { lines: 1, files: ['core/d.ts'] })
  t.same(listUnder(text, 'Three'), { lines: 0, files: [] })
  t.end()
})

/** The numbered list under a heading: its lines, and the files that it names: `core/caller.ts`. */
function listUnder(text: string, heading: string): { lines: number; files: string[] } {
  const [, section = ''] = text.split(`\n### ${heading}\n`)
  const [own = ''] = section.split(/\n##/)
  const items = own.match(/^(?:\d+\. | {3,}).*$/gm) ?? []
  const files = [...items.join('\n').matchAll(/`([\w-]+\/[\w./-]+\.tsx?)`/g)].map(([, file = '']) => file)
  return { lines: items.length, files }
}

async function followFlows(folder: string, url: string): Promise<Record<Flow, string[]>> {
  // A coverage run would otherwise measure that process, too.
  const env = { ...process.env, NODE_V8_COVERAGE: '' }
  const { stdout } = await promisify(execFile)(process.execPath, [program, folder, url], {
    env,
    timeout: 200_000,
  })
  return JSON.parse(stdout) as Record<Flow, string[]>
}
