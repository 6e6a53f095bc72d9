/** Notes the `onReady` hooks that packages other than ours add: they run under every command. */
import { subscribe } from 'node:diagnostics_channel'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'

const found = new Set<string>()

/** Where hooks come from: the name of a package, or the file and the line in the application. */
export function foreignHooks(): readonly string[] {
  return [...found].toSorted()
}

/** Looks at every application that is made from now on. */
export function watchHooks(): void {
  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as { readonly fastify: FastifyInstance } // as Fastify publishes it
    const addHook: unknown = Reflect.get(fastify, 'addHook')
    Reflect.set(
      fastify,
      'addHook',
      function watched(this: FastifyInstance, name: string, ...rest: unknown[]) {
        if (name === 'onReady') note(new Error('a hook').stack ?? '')
        return Reflect.apply(addHook as () => unknown, this, [name, ...rest])
      },
    )
  })
}

function note(stack: string): void {
  const [, caller = ''] = stack.split('\n').slice(1)
  const [, place = '', line = ''] = /\(?((?:file:|\/|[A-Za-z]:\\)[^()]*?):(\d+):\d+\)?$/.exec(caller) ?? []
  if (place === '') return
  const file = place.startsWith('file:') ? fileURLToPath(place) : place
  const name = packageOf(dirname(file))
  if (name.startsWith('@fastify-modular/')) return
  found.add(file.includes('node_modules') ? name : `${relative(process.cwd(), file)}:${line}`)
}

/** The name of the nearest package with a name; empty where there is none. */
function packageOf(folder: string): string {
  const manifest = join(folder, 'package.json')
  if (existsSync(manifest)) {
    const { name }: { name?: unknown } = JSON.parse(readFileSync(manifest, 'utf8'))
    if (typeof name === 'string') return name
  }
  const parent = dirname(folder)
  return parent === folder ? '' : packageOf(parent)
}
