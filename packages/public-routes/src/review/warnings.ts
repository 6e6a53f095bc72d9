/** What the boot warns about rules. */
import { opensDespite } from '../access/precedence.ts'
import { environmentSource, environmentVariable } from '../initial-rules.ts'
import { frameworkDefault, nameOfRule, type RegisteredRule } from '../rule.ts'
import type { Parts } from './explain.ts'

const mutating = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/**
 * Three lines at the most. The framework's own rules give none, because the application did not write them; those of the
 * environment have one that names what they open, route by route, since no committed file has it.
 */
export function warnOfRules({ app, rules, routes, policies }: Parts): void {
  const matches = routes.all.flatMap((route) =>
    route.methods
      .filter((method) => method !== 'HEAD' || !route.followsGet) // it says nothing that GET does not
      .flatMap((method) => policies.rulesFor(route, method).map((match) => ({ ...match, route, method }))),
  )
  const opening = matches.filter(
    ({ rule, route, method }) =>
      policies.of(route, method).kind !== 'closed' && opensDespite(rule, route.declared(method)?.by),
  )
  const used = new Set(matches.map(({ rule }) => rule))
  warn(
    'public-route rules match no route',
    rules.filter((rule) => !used.has(rule)),
  )
  warn(
    'public-route rules without methods can open routes that change something',
    opening.flatMap(({ rule, method }) => (rule.route.methods === null && mutating.has(method) ? rule : [])),
  )
  const byEnvironment = opening
    .filter(({ rule }) => rule.source === environmentSource)
    .map(({ rule, reach, route, method }) => {
      const place = `${method} ${route.url} by "${String(rule.route)}"`
      return reach === 'every path' ? place : `some paths of ${place}`
    })
  if (byEnvironment.length > 0)
    app.log.warn({ routes: byEnvironment }, `the environment variable ${environmentVariable} opens routes`)

  function warn(message: string, about: readonly RegisteredRule[]): void {
    const own = about.filter(({ source }) => source !== frameworkDefault)
    if (own.length > 0) app.log.warn({ rules: [...new Set(own.map(nameOfRule))] }, message)
  }
}
