/** Rules that open something to strangers although no declaration changes: the committed file has to differ for each. */
import { accessEntries, compareAccess } from '#src/review/committed-file.js'
import { publicRoutes } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance } from 'fastify'
import { headerProvider } from './application.ts'
import { ran } from './declared-application.ts'

type AddRules = (app: FastifyInstance) => void

export interface OpeningMutant {
  readonly name: string
  readonly before: AddRules
  readonly after: AddRules
  /** Closed before and open after. */
  readonly target: string
}

const addRegex =
  (...expressions: readonly (string | RegExp)[]): AddRules =>
  (app) => {
    for (const expression of expressions) app.publicRoutes.addRegex(expression)
  }
const nothing: AddRules = () => {}

export const openingMutants: readonly OpeningMutant[] = [
  {
    name: 'a rule that opens some paths is widened',
    before: addRegex('/notes/public-[^/]+$'),
    after: addRegex('/notes/p[^/]+$'),
    target: '/notes/p1',
  },
  {
    name: 'a second rule for a route of which some paths are open',
    before: addRegex('/notes/public-[^/]+$'),
    after: addRegex('/notes/public-[^/]+$', '/notes/other-[^/]+$'),
    target: '/notes/other-1',
  },
  {
    name: 'an expression for letters beyond ASCII',
    before: nothing,
    after: addRegex('^/notes/[à-ü]+$'),
    target: '/notes/%C3%A9',
  },
  {
    name: 'an expression for a class of Unicode',
    before: nothing,
    after: addRegex('^/notes/\\p{Lu}+$'),
    target: '/notes/AB',
  },
  {
    name: 'a prefix over the not-found handler',
    before: nothing,
    after: (app) => void app.publicRoutes.addPrefix('/legacy/'),
    target: '/legacy/1',
  },
  {
    name: 'an expression over the not-found handler',
    before: nothing,
    after: addRegex('^/legacy/.*$'),
    target: '/legacy/1',
  },
  {
    name: 'a fifth alternative',
    before: addRegex('/notes/(?:a|b|c|d)$'),
    after: addRegex('/notes/(?:a|b|c|d|e)$'),
    target: '/notes/e',
  },
  { name: 'digits', before: nothing, after: addRegex('/notes/\\d{3}$'), target: '/notes/123' },
  { name: 'two groups', before: nothing, after: addRegex('/notes/(x)(y)$'), target: '/notes/xy' },
  {
    name: 'letters of either case',
    before: addRegex(/\/notes\/[a-b]$/),
    after: addRegex(/\/notes\/[a-b]$/i),
    target: '/notes/B',
  },
]

async function build(addRules: AddRules): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(publicRoutes, { provider: headerProvider, env: false, defaults: false })
  app.setNotFoundHandler(async () => 'proxied')
  addRules(app)
  app.get('/notes/:id', { config: {} }, ran)
  await app.ready()
  return app
}

/** What a stranger gets before and after, and what the file of the original says about itself and about the mutant. */
export async function judgeOpening({ before, after, target }: OpeningMutant) {
  const apps = [await build(before), await build(before), await build(after)]
  try {
    const [expected = [], again = [], mutated = []] = await Promise.all(apps.map((app) => accessEntries(app)))
    const answers = [await apps[0]?.inject(target), await apps[2]?.inject(target)]
    return {
      statuses: answers.map((answer) => answer?.statusCode),
      original: compareAccess(expected, again),
      changed: compareAccess(expected, mutated),
    }
  } finally {
    await Promise.all(apps.map((app) => app.close()))
  }
}
