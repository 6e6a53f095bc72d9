/** The samples of docs/guides/settings.md refuse the text that neither a pattern nor a rule looks at. */
import { readFile } from 'node:fs/promises'
import { setting, type SettingDefinition, SettingScope } from '@fastify-modular/settings'
import { writeGuideCode } from '@fastify-modular/test-support/guide-code'
import { test } from 'tap'
import { createApp, rejection } from '../support/app.ts'

const guide = new URL('../../../../docs/guides/settings.md', import.meta.url)
const files = writeGuideCode(guide, new URL('./code/', import.meta.url))

/** The definition that a block of the guide exports under a name. */
async function definitionOf(name: string): Promise<SettingDefinition> {
  for (const file of files) {
    if (!(await readFile(file, 'utf8')).includes(`export const ${name} = setting.`)) continue
    const { [name]: definition } = (await import(file)) as Record<string, SettingDefinition>
    if (definition) return definition
  }
  throw new Error(`The guide has no definition ${name}.`)
}

for (const [name, good, bad] of [
  ['slug', 'first-post', 'First post'],
  ['timezone', 'Europe/Vienna', 'Nowhere'],
] as const) {
  test(`the sample ${name} takes what it is for, and neither the empty text nor anything else`, async (t) => {
    const definition = await definitionOf(name)
    const { settings } = await createApp(t, { definitions: [definition] })
    await settings.contract.setSetting(definition.key, good, SettingScope.Application)
    for (const value of [bad, '', null])
      t.match(
        await rejection(settings.contract.setSetting(definition.key, value, SettingScope.Application)),
        { status: 422 },
        String(value),
      )
    t.equal(settings.get(definition.key), good)
  })
}

test('the guide: without `required` the empty text is stored, and no rule is called', async (t) => {
  let calls = 0
  const note = setting.text('x.note', {
    displayName: 'Note',
    scope: SettingScope.Application,
    pattern: '^x',
    validate: () => void calls++,
  })
  const { settings } = await createApp(t, { definitions: [note] })
  await settings.contract.setSetting('x.note', '', SettingScope.Application)
  t.equal(settings.get(note), '')
  t.equal(calls, 0)
})
