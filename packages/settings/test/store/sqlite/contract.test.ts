import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeContract } from '../../contract/store-contract.ts'
import { test } from 'tap'
import { sqlite } from '../../support/stores.js'

storeContract(
  test,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'settings-'))
    return {
      create: () => sqlite({ file: join(folder, 'settings.db') }, { pollInterval: 5 }),
      dispose: () => rm(folder, { recursive: true }),
    }
  },
  { patience: 60_000 },
)
