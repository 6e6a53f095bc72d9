// Takes the pictures of the README from the example application, in Inter, whatever fonts this machine has, and writes down what they say.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fromHost, textOf, visitPictures } from '../pictures.mjs'

const most = 200_000 // bytes of a picture

export default async function screenshots() {
  await visitPictures(take, await fontStyle())
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

async function take(name, pages) {
  const file = join('docs/images', name)
  const image = await shoot(pages)
  if (image.length > most) throw new Error(`${file}.png would have ${image.length} bytes, more than ${most}`)
  await writeFile(`${file}.png`, image)
  await writeFile(`${file}.txt`, await textOf(pages))
}

/** One window as it is, two of them side by side. */
async function shoot([page, ...others]) {
  const images = await Promise.all([page, ...others].map((each) => each.screenshot()))
  if (others.length === 0) return images[0]
  const sheet = await page.context().newPage()
  await sheet.setViewportSize({ width: 1300, height: 800 })
  const elements = images.map((image) => `<img src="data:image/png;base64,${image.toString('base64')}">`)
  await sheet.setContent(
    `<body style="display:inline-flex;gap:16px;margin:0;padding:16px;background:#c8ccd6">${elements.join('')}`,
  )
  await sheet.waitForFunction('[...document.images].every(({ complete }) => complete)')
  return sheet.locator('body').screenshot()
}
