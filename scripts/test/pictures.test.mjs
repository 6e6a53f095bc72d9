// The pictures of the README show what the pages say today.
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'tap'
import { findBrowser } from '../../test-support/dist/browser.js'
import { textOf, visitPictures } from '../pictures.mjs'

const skip = findBrowser() === null && 'Chromium is missing'

test('pages say what stands in their pictures', { skip }, async (t) => {
  await visitPictures(async (name, pages) => {
    const file = `docs/images/${name}.txt`
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    t.equal(await textOf(pages), text, `${name}: take the pictures anew with "npm run screenshots"`)
  })
})
