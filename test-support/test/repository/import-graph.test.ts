import { test } from 'tap'
import { importCircles, importsOf } from './import-graph.js'
import { sourceFiles, textOf } from './sources.js'

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
