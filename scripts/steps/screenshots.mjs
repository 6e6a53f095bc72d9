// Takes the pictures of the README from the example application, in Inter, whatever fonts this machine has, and writes down what they say.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openPicture, pictures, textOf } from '../pictures.mjs'

const folder = 'docs/images'
const most = 200_000 // bytes of a picture
const fromHost = createRequire(resolve('packages/host-example/package.json'))

export default async function screenshots() {
  const { spawnApp } = await import(resolve('test-support/dist/spawn-app.js'))
  const { findBrowser } = await import(resolve('test-support/dist/browser.js'))
  const { chromium } = fromHost('playwright-core')
  const executablePath = findBrowser()
  if (executablePath === null)
    throw new Error('Chromium is missing: install it, or name its program in CHROME_PATH')
  const data = await mkdtemp(join(tmpdir(), 'screenshots-'))
  const cleanUp = [() => rm(data, { recursive: true, force: true })]
  try {
    const app = await spawnApp(resolve('packages/host-example/dist/main.js'), {
      env: { NODE_ENV: undefined, PORT: '0', DATABASE_URL: `sqlite:${join(data, 'host.sqlite')}` },
    })
    cleanUp.unshift(() => app.stop())
    const browser = await chromium.launch({
      executablePath,
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    })
    cleanUp.unshift(() => browser.close())
    const style = await fontStyle()
    for (const picture of pictures) await take(browser, app.url, style, picture)
  } finally {
    for (const step of cleanUp) await step()
  }
}

/** Inter as a style that needs no request. */
async function fontStyle() {
  const faces = [400, 500, 600, 700].map(async (weight) => {
    const file = fromHost.resolve(`@fontsource/inter/files/inter-latin-${weight}-normal.woff2`)
    const font = (await readFile(file)).toString('base64')
    return `@font-face{font-family:Inter;font-weight:${weight};src:url(data:font/woff2;base64,${font})}`
  })
  return `${(await Promise.all(faces)).join('')}:root{--fm-font:Inter}body,.fm{font-family:Inter}`
}

async function take(browser, url, style, picture) {
  const page = await openPicture(browser, url, picture, style)
  const file = join(folder, picture.name)
  const image = await page.screenshot()
  if (image.length > most) throw new Error(`${file}.png would have ${image.length} bytes, more than ${most}`)
  await writeFile(`${file}.png`, image)
  await writeFile(`${file}.txt`, await textOf(page))
  await page.context().close()
}
