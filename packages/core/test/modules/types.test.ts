/** Compile-time rules: this file compiles only while they hold. */
import { test } from 'tap'
import { defineEvent, defineModule } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'

class Renamed extends defineEvent('renamed', Type.Object({ from: Type.String(), to: Type.String() })) {}

test('a misspelt hook is a compile error', async (t) => {
  // @ts-expect-error -- no plugin declares this hook
  defineModule({ name: 'a', setings: () => {} })
  // @ts-expect-error -- a module needs a name
  defineModule({})
  t.pass('compiled')
})

test('an event is typed by its schema', async (t) => {
  const event = new Renamed({ from: 'a', to: 'b' })
  const from: string = event.from
  t.equal(from, 'a')
  // @ts-expect-error -- events do not change
  t.throws(() => (event.from = 'x'))
  // @ts-expect-error -- the payload misses a member
  t.ok(new Renamed({ from: 'a' }))
})
