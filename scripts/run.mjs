// Runs the steps named on the command line, in that order: `node scripts/run.mjs install build test`.
// The words after `test` and `bench` are theirs: `node scripts/run.mjs test settings --grep 'a name'`.
// Nothing but Node's own modules may be imported before the step `install` has run.
import { fileURLToPath } from 'node:url'

const oldest = [20, 19]
const steps = ['install', 'build', 'lint', 'pack', 'test', 'seed', 'host', 'dev', 'bench', 'screenshots']

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
  fail(`Node ${process.versions.node} is too old: use Node ${oldest.join('.')} or later.`)
}

const plan = []
for (const word of process.argv.slice(2)) {
  if (['test', 'bench'].includes(plan.at(-1)?.step)) plan.at(-1).args.push(word)
  else if (steps.includes(word)) plan.push({ step: word, args: [] })
  else fail(`There is no step "${word}". Name some of: ${steps.join(', ')}.`)
}
if (plan.length === 0) fail(`Name the steps to run, some of: ${steps.join(', ')}.`)

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
for (const { step, args } of plan) {
  const { default: run } = await import(`./steps/${step}.mjs`)
  try {
    await run(args)
  } catch (error) {
    fail(`${step} failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
