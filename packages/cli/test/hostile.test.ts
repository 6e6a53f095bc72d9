/** Applications that do what they should not, readers who leave, and operators who give up. */
import type { ChildProcess } from 'node:child_process'
import { until } from '@fastify-modular/test-support/until'
import { test } from 'tap'
import { readCall } from '#src/program.js'
import { exitCodes, printReport } from '#src/report.js'
import { place } from './place.ts'

const config = 'hostile.mjs'

const deeds: Readonly<Record<string, { readonly code: number; readonly says: RegExp }>> = {
  'is none of them': { code: 2, says: /does not return an application/ },
  throws: { code: 1, says: /no configuration today/ },
  'throws null': { code: 1, says: /null/ },
  'throws a proxy': { code: 1, says: /./ },
  'returns nothing': { code: 2, says: /does not return an application/ },
  'returns a number': { code: 2, says: /does not return an application/ },
  'returns something like an application': { code: 2, says: /no settings: its plugin is not registered/ },
  'has no plugins': { code: 2, says: /no settings: its plugin is not registered/ },
  // An error of code, which no operator can put right: serving it fails the same way.
  'has a gate that asks nobody': { code: 1, says: /FMOD_CORE_INVALID_OPTION/ },
  'exits with 0': { code: 1, says: /ended before the command did \(exit code 0\)/ },
  'is killed': { code: 1, says: /ended before the command did \(SIGKILL\)/ },
  'rejects in the background': { code: 1, says: /ended before the command did \(exit code 1\)/ },
  'does not get ready': { code: 1, says: /not ready/ },
  'sends messages, prints JSON and does not close': { code: 0, says: /"key": "shop\.limit"/ },
}

test('whatever the application does, there is one report, and its exit code says what it is', async (t) => {
  const { command } = await place(t)
  for (const [HOSTILE, { code, says }] of Object.entries(deeds)) {
    const run = await command('settings get shop.limit --json', { config, env: { HOSTILE } })
    t.equal(run.code, code, `${HOSTILE} ${run.stderr}`)
    t.match(run.stdout, says, HOSTILE)
    t.doesNotThrow(() => JSON.parse(run.stdout), HOSTILE)
    if (code === 0) t.match(run.stderr, /did not close: Error: not closed/)
  }
})

test('what is typed wrong is one report, too', async (t) => {
  for (const line of [
    'sett',
    'settings',
    'settings get',
    'settings get a b',
    'settings get a --user',
    'doctor --x',
    ...['list', 'get a', 'set a b', 'unset a', 'history'].map(
      (name) => `settings ${name} --user u --tenant t`,
    ),
  ]) {
    const report = await readCall(line.split(' '))
    if ('command' in report) throw new Error(`A command was found: ${line}`)
    t.equal(report.exit, exitCodes.usage, line)
    t.match(printReport(report, false), /./, line)
    t.match(JSON.parse(printReport(report, true)), { error: /./ }, line)
  }
})

test('10,000 rows are printed, and a reader may leave after the first', async (t) => {
  const { command } = await place(t)
  const env = { HOSTILE: 'has 10,000 settings' }
  const all = await command('settings list --json', { config, env })
  t.ok((JSON.parse(all.stdout) as unknown[]).length >= 10_000)
  const leave = ({ stdout }: ChildProcess) => void stdout?.once('data', () => stdout.destroy())
  const head = await command('settings list', { config, env, onStart: leave })
  t.equal(head.code, 0)
  t.notMatch(head.stderr, /EPIPE/)
})

for (const whole of [true, false])
  test(`${whole ? 'Ctrl-C' : 'the end of the command'} ends the application that does not open`, async (t) => {
    const { command } = await place(t)
    let application = 0
    function giveUp(child: ChildProcess) {
      child.stderr?.on('data', (chunk) => {
        const [, pid] = /opening in process (\d+)/.exec(String(chunk)) ?? []
        if (pid === undefined || child.pid === undefined) return
        application = Number(pid)
        process.kill(whole ? -child.pid : child.pid, 'SIGINT')
      })
    }
    const run = await command('doctor', { config, env: { HOSTILE: 'never opens' }, onStart: giveUp })
    t.equal(run.code, null)
    t.ok(application > 0)
    await until(() => !isRunning(application))
  })

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
