/** What opens something to callers and is no route: rows of the committed file, beside routes and rules. */
import type { Caller } from '@fastify-modular/core'
import { currentCommand } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { DeclaredPermissions, Fact } from '../access/permissions.ts'
import type { PublicRoutesOptions } from '../options.ts'
import type { Authenticate } from '../provider.ts'
import { sendProbe } from './probes.ts'

/** Of a network that no client has (RFC 5737), so that the provider does not take the request for one of this machine. */
const address = '192.0.2.1'

/** What only a request that carries nothing can say. */
export const guests = 'requests without credentials'

interface Asked {
  readonly app: FastifyInstance
  readonly authenticate: Authenticate
  readonly permissions: DeclaredPermissions
}

/** What a request without credentials meets. */
interface Found {
  /** Whom the provider knows in it; null for nobody, and where the provider fails. */
  readonly guest: Caller | null
  /** What other packages open. */
  readonly contributed: readonly Fact[]
}

/** Sends a request that carries nothing through the hooks before the gate. A command of the command line sends none. */
export async function askAsStranger({ app, authenticate, permissions }: Asked): Promise<Found> {
  const stranger = currentCommand() ? null : await sendStranger(app)
  let guest: Caller | null = null
  try {
    guest = stranger && (await authenticate(stranger))
  } catch {
    // A database that is down says nothing about guests.
  }
  return { guest, contributed: await permissions.facts(stranger) }
}

/** Null where a hook answers it. */
async function sendStranger(app: FastifyInstance): Promise<FastifyRequest | null> {
  const target = '/.well-known/fastify-modular/guest'
  const outcome = await sendProbe(app, { method: 'HEAD', target, address })
  return outcome.reached ? outcome.request : null
}

/** Asks when everything is ready, such as the database of the provider; the boot does not wait for it. */
export async function warnOfGuests(asked: Asked): Promise<void> {
  const { app } = asked
  try {
    await app.ready()
  } catch {
    return // the boot failed, and says so
  }
  const { guest, contributed } = await askAsStranger(asked)
  if (guest !== null)
    app.log.warn(
      { caller: guest.id, rights: rightsOf(guest) },
      'the authentication provider knows a caller in a request without credentials: strangers get what this caller may do. If that is meant, set guests: true',
    )
  for (const { about, is } of contributed)
    if (about === guests) app.log.warn(`${about}: ${is}. If that is meant, set guests: true`)
}

export function listFacts(
  { csrf = false, guests: areMeant = false }: PublicRoutesOptions,
  { hooks, contributed, guest }: Found & { readonly hooks: readonly string[] },
): readonly Fact[] {
  const { exempt = [], trustedOrigins = [] } = typeof csrf === 'object' ? csrf : {}
  const meant = areMeant ? ['meant by the option guests'] : []
  const known = guest === null ? [] : [`known to the provider, ${rightsOf(guest)}`]
  return [
    fact('hooks before the gate', hooks),
    fact('csrf', csrf === false ? [] : ['on']),
    ...exempt.toSorted().map((path) => ({ about: `csrf of ${path}`, is: 'exempt' })),
    ...trustedOrigins.toSorted().map((origin) => ({ about: `csrf from ${origin}`, is: 'trusted' })),
    fact(guests, [...known, ...meant]),
    ...contributed,
  ].filter(({ is }) => is !== '')
}

function fact(about: string, texts: readonly string[]): Fact {
  return { about, is: texts.join(', ') }
}

/** Not the id, which may be another one each time. */
function rightsOf({ isAdmin, permissions = [] }: Caller): string {
  if (isAdmin === true) return 'as an administrator'
  return permissions.length === 0 ? 'without permissions' : `with ${permissions.toSorted().join(' and ')}`
}
