/** Which settings are left out because of another one. */
import type { SettingDefinitionDto, SettingValueDto } from '@fastify-modular/settings/client'
import { test } from 'tap'
import { type EditorState, initialState } from '#src/browser/model/editor-state.js'
import type { Draft } from '#src/browser/model/setting.js'
import { isLeftOut } from '#src/browser/model/listing.js'
import { createHost } from '../support/host.js'
import { hinted } from '../support/hinted.js'

test('a setting is left out only while another one is known to differ', async (t) => {
  const app = await createHost(t, { settings: { definitions: [hinted], overrides: {} } })
  const read = async (path: string) =>
    (await app.inject({ url: `/api/settings${path}`, headers: { cookie: 'user=ada' } })).json()
  const definitions: SettingDefinitionDto[] = await read('/definitions')
  const list: SettingValueDto[] = await read('')
  const timeout = definitions.find(({ key }) => key === 'mail.timeout')
  if (!timeout) throw new Error('no such definition')

  const draft = (input: Draft['input']): Draft => ({ input })
  const check = (
    change: Record<string, Partial<SettingValueDto>> = {},
    drafts: Record<string, Draft> = {},
    without?: string,
    definition = timeout,
  ): boolean => {
    const values = list
      .filter(({ key }) => key !== without)
      .map((value) => [value.key, { ...value, ...change[value.key] }] as const)
    const state: EditorState = {
      ...initialState,
      byKey: new Map(definitions.map((each) => [each.key, each])),
      values: new Map(values),
      drafts: new Map(Object.entries(drafts)),
    }
    return isLeftOut(definition, state)
  }

  t.equal(check(), true, 'stored: false instead of true')
  t.equal(check({ 'mail.enabled': { value: true } }), false, 'stored: true')
  t.equal(check({}, { 'mail.enabled': draft(true) }), false, 'entered: true')
  t.equal(
    check({ 'mail.enabled': { value: true } }, { 'mail.enabled': draft(false) }),
    true,
    'entered: false',
  )
  t.equal(check({}, { 'mail.timeout': draft('60') }), false, 'unsaved itself')
  t.equal(check({}, { 'mail.timeout': draft('x') }), false, 'not valid itself')
  t.equal(
    check({ 'mail.timeout': { isOverridden: true, source: 'default' } }),
    false,
    'stored, and not allowed any more',
  )
  t.equal(check({}, {}, 'mail.enabled'), false, 'the other one is not on this page')
  const unset = { ...timeout, showWhen: { key: 'mail.relay', equals: null } }
  t.equal(check({}, {}, undefined, unset), false, 'no value is a value')
  t.equal(check({ 'mail.relay': { value: 'a' } }, {}, undefined, unset), true)
  t.equal(check({}, {}, undefined, { ...timeout, showWhen: null }), false, 'depends on none')
})
