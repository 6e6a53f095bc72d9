/** A synthetic application of 200 routes whose access is declared, and mutants of it: each has one mistake of those that people make. */
import { accessEntries, compareAccess } from '#src/review/committed-file.js'
import { tryAccess } from '#src/testing/expect-access.js'
import { defineModule, modules } from '@fastify-modular/core'
import { type Access, type AccessByMethod, publicRoutes } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance } from 'fastify'
import { headerProvider } from './application.ts'
import { generator } from '@fastify-modular/test-support/hostile-requests'
import { ran } from './declared-application.ts'

interface RouteSpec {
  readonly method: readonly ('GET' | 'PUT' | 'POST' | 'DELETE')[]
  readonly url: string
  /** Undefined: the default of the module counts. */
  readonly access: Access | AccessByMethod | undefined
  readonly module: number
  readonly isEarly: boolean
  /** The constant with its access does not exist: `config.access` is undefined. */
  readonly isMisspelt?: boolean
}

export interface Specification {
  readonly routes: readonly RouteSpec[]
  /** Prefixes that a rule opens. */
  readonly rules: readonly string[]
}

const permissions = Array.from({ length: 12 }, (_, at) => `Area${at}.Edit`)
const moduleNames = Array.from({ length: 10 }, (_, at) => `module${at}`)
/** Every other module has a default; the routes of the others declare all of theirs. */
const hasDefault = (module: number): boolean => module % 2 === 0
const permissionAt = (at: number): string => permissions[at % permissions.length] ?? ''

const tails = ['', '/:id', '/:year(^\\d{4}$)', '/*', '/:id/items/:item', '/:kind(^(?:a|b)-[0-9a-f]{4}$)/x']

/** For the URLs with regular expressions. */
const samples = Object.fromEntries(
  Array.from({ length: 200 }, (_, at) => `/area${at % 10}/thing${at}${tails[at % tails.length] ?? ''}`).map(
    (url) => [url, url.includes(':year') ? '2024' : 'a-0f0f'],
  ),
)

export function synthetic(): Specification {
  const routes = Array.from({ length: 200 }, (_, at): RouteSpec => {
    const module = at % moduleNames.length
    const [one, other] = [permissionAt(at), permissionAt(at + 5)]
    const forms: readonly RouteSpec['access'][] = [
      one,
      'signed-in',
      { allOf: [one, other] },
      'public',
      { anyOf: [one, other] },
      { GET: 'public', POST: one },
      hasDefault(module) ? undefined : other,
    ]
    const access = forms[at % forms.length]
    const isByMethod = typeof access === 'object' && 'GET' in access
    const url = `/area${module}/thing${at}${tails[at % tails.length] ?? ''}`
    const single = (['GET', 'PUT', 'DELETE'] as const)[at % 3] ?? 'GET'
    return { method: isByMethod ? ['GET', 'POST'] : [single], url, access, module, isEarly: false }
  })
  return { routes, rules: [] }
}

export async function build({ routes, rules }: Specification): Promise<FastifyInstance> {
  const app = Fastify()
  for (const route of routes.filter(({ isEarly }) => isEarly)) add(app, route)
  await app.register(publicRoutes, {
    provider: headerProvider,
    env: false,
    defaults: false,
    undeclared: 'refuse',
    permissions: Object.fromEntries(permissions.map((name) => [name, {}])),
  })
  for (const rule of rules) app.publicRoutes.addSubtree(rule)
  await app.register(modules, {
    modules: moduleNames.map((name, at) =>
      defineModule({
        name,
        ...(hasDefault(at) && { access: 'signed-in' }),
        plugin: async (scope) => {
          for (const route of routes) if (route.module === at && !route.isEarly) add(scope, route)
        },
      }),
    ),
  })
  return app
}

function add(app: FastifyInstance, { method, url, access, isMisspelt = false }: RouteSpec): void {
  const config = isMisspelt ? ({ access: undefined } as object) : access === undefined ? {} : { access }
  app.route({ method: [...method], url, config, handler: ran })
}

/** A mutant, or null where this mistake changes nothing for this route. */
type Mutate = (route: RouteSpec, random: () => number) => RouteSpec | { readonly rule: string } | null

const isNames = (access: RouteSpec['access']): access is string =>
  typeof access === 'string' && access !== 'public' && access !== 'signed-in'
const another = (than: string, random: () => number): string =>
  permissionAt(permissions.indexOf(than) + 1 + Math.floor(random() * (permissions.length - 1)))

export const mistakes: Readonly<Record<string, Mutate>> = {
  'declaration removed': (route) =>
    route.access === undefined || (hasDefault(route.module) && route.access === 'signed-in')
      ? null
      : { ...route, access: undefined },
  weakened: (route) => {
    const { access } = route
    if (access === 'signed-in') return { ...route, access: 'public' }
    if (isNames(access)) return { ...route, access: 'signed-in' }
    if (typeof access !== 'object') return null
    if ('allOf' in access && Array.isArray(access.allOf))
      return { ...route, access: { allOf: access.allOf.slice(1) } }
    return 'anyOf' in access ? { ...route, access: 'signed-in' } : { ...route, access: 'public' }
  },
  widened: (route, random) =>
    isNames(route.access)
      ? { ...route, access: { anyOf: [route.access, another(route.access, random)] } }
      : null,
  'constant misspelt': (route) => (isNames(route.access) ? { ...route, isMisspelt: true } : null),
  'permission swapped': (route, random) =>
    isNames(route.access) ? { ...route, access: another(route.access, random) } : null,
  'rule added': ({ access, url }) =>
    access === undefined ? { rule: url.split('/').slice(0, 3).join('/') } : null,
  'moved before the gate': (route) => ({ ...route, isEarly: true }),
  'method added': (route) => ({
    ...route,
    method: [...route.method, route.method.includes('PUT') ? 'DELETE' : 'PUT'],
  }),
}

export interface Mutant {
  readonly name: string
  readonly specification: Specification
}

/** Mutants that differ from the original, the same for the same seed. */
export function* mutants(original: Specification, count: number, seed: number): Generator<Mutant> {
  const random = generator(seed)
  const kinds = Object.entries(mistakes)
  for (let made = 0; made < count;) {
    const [kind, mutate] = kinds[made % kinds.length] ?? ['', () => null]
    const at = Math.floor(random() * original.routes.length)
    const route = original.routes[at]
    const mutated = route === undefined ? null : mutate(route, random)
    if (route === undefined || mutated === null) continue
    made++
    const specification =
      'rule' in mutated
        ? { ...original, rules: [mutated.rule] }
        : { ...original, routes: original.routes.with(at, mutated) }
    yield { name: `${kind}: ${route.method.join()} ${route.url}`, specification }
  }
}

/** What noticed a mutant. */
export interface Verdict {
  readonly name: string
  readonly byBoot: boolean
  readonly byTable: boolean
  readonly byRequests: boolean
}

/** `expected` is what the unmutated application has in its file; no argument: an unmutated application. */
export async function judge(
  expected: Awaited<ReturnType<typeof accessEntries>>,
  { name, specification }: Mutant = { name: 'unmutated', specification: synthetic() },
): Promise<Verdict> {
  let app: FastifyInstance | undefined
  try {
    app = await build(specification)
    await app.ready()
    const byTable = compareAccess(expected, await accessEntries(app)).length > 0
    const byRequests = (await tryAccess(app, expected, { samples })).length > 0
    return { name, byBoot: false, byTable, byRequests }
  } catch (err) {
    if (!(err instanceof Error && 'code' in err && String(err.code).startsWith('FMOD_PUBLIC_ROUTES_')))
      throw err
    return { name, byBoot: true, byTable: false, byRequests: false }
  } finally {
    await app?.close()
  }
}

export async function expectedEntries(): ReturnType<typeof accessEntries> {
  const app = await build(synthetic())
  await app.ready()
  const entries = await accessEntries(app)
  await app.close()
  return entries
}
