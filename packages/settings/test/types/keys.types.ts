/** Compile-time assertions about reading: this file is compiled with the tests and never runs. */
import {
  type JsonValue,
  setting,
  type ValuesOf,
  type Settings,
  SettingScope,
  type UserReader,
} from '@fastify-modular/settings'

type Equal<A, B> = [A, B] extends [B, A] ? true : false
function assertType<Expected>(): <Actual>(actual: Actual, equal: Equal<Actual, Expected>) => void {
  return () => {}
}

const typesTest = {
  port: setting.number('types-test.port', { displayName: 'Port', scope: SettingScope.System, default: 587 }),
  theme: setting.select('types-test.theme', {
    displayName: 'Theme',
    scope: SettingScope.User,
    allowedValues: ['light', 'dark'],
  }),
}

// What a package writes so that its keys are typed.
declare module '@fastify-modular/settings' {
  interface SettingKeyMap extends ValuesOf<typeof typesTest> {}
}

export function readsAreTyped(settings: Settings, reader: UserReader): void {
  assertType<number>()(settings.get(typesTest.port), true)
  assertType<'light' | 'dark' | null>()(settings.get(typesTest.theme), true)
  assertType<'light' | 'dark' | null>()(reader.get(typesTest.theme), true)
  assertType<number>()(settings.get('types-test.port'), true)
  assertType<'light' | 'dark' | null>()(settings.get('types-test.theme'), true)
  // @ts-expect-error -- no package has merged this key in
  settings.get('types-test.prot')
  // @ts-expect-error -- nor to listen to
  settings.on('types-test.prot', () => {})
  // A computed key is for the run time to find, and its value any JSON.
  const name: string = ['types-test', 'port'].join('.')
  assertType<JsonValue>()(settings.get(name), true)
  assertType<JsonValue>()(settings.get(`types-test.${name}`), true)
  settings.on(name, (value) => assertType<JsonValue>()(value, true))
  // @ts-expect-error -- a number is no boolean
  assertType<boolean>()(settings.get('types-test.port'), true)

  settings.on(typesTest.port, (value) => assertType<number>()(value, true))
  settings.on('types-test.theme', (value) => assertType<'light' | 'dark' | null>()(value, true))
}
