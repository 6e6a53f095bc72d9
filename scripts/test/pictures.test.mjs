// The pictures of the README show what the pages say today.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'tap'
import { findBrowser } from '../../test-support/dist/browser.js'
import { spawnApp } from '../../test-support/dist/spawn-app.js'
import { openPicture, pictures, textOf } from '../pictures.mjs'

const { chromium } = createRequire(resolve('packages/host-example/package.json'))('playwright-core')
const executablePath = findBrowser()
const main = 'packages/host-example/dist/main.js'

test(
  'pages say what stands in their pictures',
  { skip: executablePath === null && 'Chromium is missing' },
  async (t) => {
    const data = mkdtempSync(join(tmpdir(), 'pictures-'))
    t.teardown(() => rmSync(data, { recursive: true, force: true }))
    const env = { NODE_ENV: undefined, PORT: '0', DATABASE_URL: `sqlite:${join(data, 'host.sqlite')}` }
    const app = await spawnApp(resolve(main), { env })
    t.teardown(() => app.stop())
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    t.teardown(() => browser.close())
    for (const picture of pictures) {
      const file = `docs/images/${picture.name}.txt`
      const page = await openPicture(browser, app.url, picture)
      t.equal(
        await textOf(page),
        existsSync(file) ? readFileSync(file, 'utf8') : '',
        `${picture.name}: take the pictures anew with "npm run screenshots"`,
      )
      await page.context().close()
    }
  },
)
