import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { test } from 'tap'
import { processTests } from '../process-tests.js'

t.setTimeout(900_000)
const folder = await mkdtemp(join(tmpdir(), 'settings-'))
t.teardown(() => rm(folder, { recursive: true }))
let count = 0

processTests(test, async () => join(folder, `${++count}.db`))
