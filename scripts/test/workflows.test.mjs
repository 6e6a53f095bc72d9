// What the workflows may do: who holds which right, and whose code runs beside it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, '.github/workflows')
const texts = Object.fromEntries(
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
)

/** What a job runs that publishes, tags or packs: nothing that tests, and with rights nothing of third parties. */
const commands = {
  publish: ['node scripts/release.mjs publish tarballs'],
  tag: ['node scripts/release.mjs tag'],
  pack: ['node scripts/run.mjs install build', 'node scripts/release.mjs pack tarballs'],
}

/** The rules that a workflow breaks. */
function problemsOf(text) {
  const workflow = parse(text)
  const jobs = Object.entries(workflow.jobs)
  return [
    ...(isHarmless(workflow.permissions) ? [] : ['the workflow gives every job more than reading']),
    ...(/secrets\./.test(text) ? ['a secret is stored'] : []),
    ...(/pull_request_target|workflow_run/.test(text) ? ['foreign code meets rights'] : []),
    ...[...text.matchAll(/^\s*(?:- )?uses: (.*)$/gm)]
      .filter(([, action]) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))
      .map(([, action]) => `${action} is not pinned by a commit`),
    ...jobs.flatMap(([name, job]) => jobProblems(job).map((problem) => `${name}: ${problem}`)),
  ]
}

const isHarmless = (permissions) =>
  permissions !== undefined && Object.values(permissions).every((right) => right === 'read')

function jobProblems({ permissions = {}, environment, steps, 'timeout-minutes': minutes }) {
  const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
  const publishes = 'id-token' in permissions
  return [
    ...(minutes > 0 ? [] : ['it may run for hours']),
    ...(checkouts.every((step) => step.with?.['persist-credentials'] === false)
      ? []
      : ['the token stays on the disk']),
    ...(publishes && environment !== 'npm' ? ['it publishes without a reviewer'] : []),
    ...(publishes && steps.some(({ uses = 'actions/' }) => !uses.startsWith('actions/'))
      ? ['an action of others may publish']
      : []),
    ...(publishes &&
    Object.entries(permissions).some(([name, right]) => name !== 'id-token' && right !== 'read')
      ? ['what publishes may write elsewhere']
      : []),
    ...Object.entries(commands)
      .filter(([part]) => steps.some(({ run }) => run?.includes(`release.mjs ${part}`)))
      .filter(([part]) => steps.some(({ run }) => run && !commands[part].includes(run)))
      .map(([part]) => `other commands run beside ${part}`),
  ]
}

for (const [name, text] of Object.entries(texts)) {
  test(`${name} gives rights only where they are needed, and runs actions that cannot change`, async (t) => {
    t.same(problemsOf(text), [])
  })
}

test('one job of all workflows may publish', async (t) => {
  const jobs = Object.values(texts).flatMap((text) => Object.entries(parse(text).jobs))
  t.same(
    jobs.filter(([, { permissions }]) => permissions?.['id-token']).map(([name]) => name),
    ['publish'],
  )
})

test('a workflow that does more is noticed', async (t) => {
  const release = texts['release.yml']
  const changes = [
    ['permissions: {}', 'permissions: write-all'],
    ['permissions: {}', 'permissions: { contents: write }'],
    ['permissions: {}\n', ''],
    [/@[0-9a-f]{40} # v7\.0\.1/, '@v7'],
    [/@([0-9a-f]{39})[0-9a-f]/, '@$1'],
    ['          persist-credentials: false\n', '          fetch-depth: 0\n'],
    ['environment: npm', 'name: Publish'],
    ['${{ github.token }}', '${{ secrets.NPM_TOKEN }}'],
    [
      'node scripts/release.mjs publish tarballs',
      'npm run check && node scripts/release.mjs publish tarballs',
    ],
    ['pull-requests: write', 'id-token: write'],
    ['contents: read', 'id-token: write'],
    ['  push:\n', '  pull_request_target:\n'],
    ['timeout-minutes: 10', 'continue-on-error: true'],
    ['- run: npm run check', '- run: npm run check && node scripts/release.mjs pack tarballs'],
    ['node scripts/run.mjs install build', 'npm test'],
    ['run: node scripts/release.mjs tag', 'run: npm run check && node scripts/release.mjs tag'],
    ['      contents: read\n      id-token', '      contents: write\n      id-token'],
  ]
  for (const [before, after] of changes) {
    const changed = release.replace(before, after)
    t.not(changed, release, String(before))
    t.not(problemsOf(changed).length, 0, `${before} → ${after}`)
  }
})

test('what publishes imports nothing but Node and files of this repository', async (t) => {
  const waiting = ['release.mjs']
  const seen = new Set()
  for (const file of waiting) {
    if (seen.has(file)) continue
    seen.add(file)
    const text = readFileSync(join(root, 'scripts', file), 'utf8')
    for (const [, name] of text.matchAll(/(?:from|import\(|^import) ?'([^']+)'/gm)) {
      t.match(name, /^(?:node:|\.\/)/, `${file} imports ${name}`)
      if (name.startsWith('./')) waiting.push(name.slice(2))
    }
  }
  t.same(seen, new Set(['release.mjs', 'command.mjs', 'files.mjs']))
})

test('the package manager is pinned by its hash', async (t) => {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  t.match(packageManager, /^pnpm@\d+\.\d+\.\d+\+sha512\.[0-9a-f]{128}$/)
})
