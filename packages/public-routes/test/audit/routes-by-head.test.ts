import fc from 'fast-check'
import { test } from 'tap'
import { RoutesByHead } from '#src/audit/routes-by-head.js'
import { canMeet } from '#src/gate/reach.js'
import { RouteRecord } from '#src/gate/route-record.js'
import { PublicRoute } from '#src/public-route.js'

const segment = fc.constantFrom('a', 'ab', 'abc', 'b', ':id', ':id.css', '*', 'é')
const url = fc
  .array(segment, { maxLength: 3 })
  .map((parts) => `/${parts.filter((part, at) => part !== '*' || at === parts.length - 1).join('/')}`)
const kind = fc.constantFrom<PublicRoute['kind']>('exact', 'prefix', 'subtree', 'suffix')

test('the routes that a rule can meet are found as if each of them were asked', async () => {
  fc.assert(
    fc.property(
      fc.array(url, { maxLength: 12 }),
      url.filter((text) => text !== '/'),
      kind,
      fc.boolean(),
      (urls, pattern, of, slash) => {
        const records = urls.map(
          (path) =>
            new RouteRecord({
              url: path,
              methods: ['GET'],
              declared: null,
              isDerivedHead: false,
              toleratesSlash: slash,
            }),
        )
        const rule = new PublicRoute(pattern, { kind: of })
        const asked = records.filter((record) => canMeet(rule, record))
        const found = new RoutesByHead(records).meeting(rule)
        return found.length === asked.length && found.every((record, at) => record === asked[at])
      },
    ),
  )
})
