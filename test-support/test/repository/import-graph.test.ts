import { test } from 'tap'
import { importCircles, importProblems, importsOf } from './import-graph.js'
import { sourceFiles, textOf } from './sources.js'

test('imports follow the arrows of the architecture', (t) => {
  const files = sourceFiles().filter((path) => path.startsWith('packages/'))
  t.ok(files.length > 20, 'there are files to look at')
  t.same(
    files.flatMap((path) => importProblems(path, textOf(path))),
    [],
  )
  t.end()
})

test('imports form no circle between files or folders, at any level of any package', (t) => {
  const paths = sourceFiles().filter((path) => /^packages\/[^/]+\/src\//.test(path))
  t.same(importCircles(new Map(paths.map((path) => [path, textOf(path)]))), [])
  t.end()
})

test('a circle is found where its members stand side by side', (t) => {
  const files = new Map([
    ['a/src/one/x.ts', "import '../two/deep/y.ts'"],
    ['a/src/two/deep/y.ts', "import type { z } from '../../three.ts'; import '../z.ts'"],
    ['a/src/two/z.ts', "import './deep/w.ts'"],
    ['a/src/two/deep/w.ts', ''],
    ['a/src/three.ts', "import './one/x.ts'; import './four.ts'"],
    ['a/src/four.ts', ''],
  ])
  t.same(importCircles(files), ['a/src: one ⇄ three.ts ⇄ two', 'a/src/two: deep ⇄ z.ts'])
  t.end()
})

test('every way to name a module is seen, and comments are not', (t) => {
  const text = `
    import './a.ts'
    import { b } from "./b.ts"
    import type { c } from './c.ts'
    export * from './d.ts'
    const e = await import('./e.ts')
    declare module '@fastify-modular/f' {}
    // import './no.ts'
    /* from './no.ts' */
    const url = 'https://host/' // from './no.ts'
  `
  t.same(importsOf(text), ['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts', '@fastify-modular/f'])
  t.end()
})

test('a wrong arrow is found', (t) => {
  const wrong: Record<string, string> = {
    'packages/core/src/a.ts': "import '@fastify-modular/settings'",
    'packages/errors/src/a.ts': "import type { Page } from '@fastify-modular/inertia'",
    'packages/inertia/src/a.ts': "import '@fastify-modular/settings'",
    'packages/public-routes/src/gate/gate.ts': "declare module '@fastify-modular/settings' {}",
    'packages/errors/src/b.ts': "import '../test/fixture.ts'",
    'packages/public-routes/src/plugin.ts': "import { injectAs } from '@fastify-modular/core/testing'",
    'packages/core/src/plugin.ts': "export * from './testing/index.ts'",
    'packages/core/src/events/bus.ts': "import type { EventRecord } from '../testing/events-of.ts'",
    'packages/core/src/b.ts': "import { test } from 'tap'",
    'packages/core/src/c.ts': "import '../../errors/src/problem.ts'",
    'packages/core/src/d.ts': "import '@fastify-modular/test-support/raw-http'",
    'packages/settings-ui/src/a.ts': "import { SettingType } from '@fastify-modular/settings'",
    'packages/settings/src/reading/b.ts': "import { sql } from 'drizzle-orm'",
  }
  for (const [path, text] of Object.entries(wrong)) t.equal(importProblems(path, text).length, 1, path)
  t.end()
})
