// Who calls, and what they may do: the token says the person and the organisation, the database says the role.
import cookie from '@fastify/cookie'
import jwt from '@fastify/jwt'
import { ForbiddenException } from '@fastify-modular/core'

const roles = new Map([
  ['owner', ['TenantSettings.Update', 'Members.Edit', 'Invoices.Write']],
  ['clerk', ['Invoices.Write']],
  ['operator', ['Plans.Edit', 'Settings.Update']], // of the company that runs the product; no route grants it
])
const member = `SELECT id, name, role FROM members JOIN organisations ON organisation = id WHERE person = $1 AND id = $2`

/** Accepts `Authorization: Bearer`, and the same token in a cookie, which pages and streams send. */
export async function addTokens(app, secret) {
  await app.register(cookie)
  await app.register(jwt, { secret, cookie: { cookieName: 'token' } })
  app.decorateRequest('member', null)
}

/** The provider of the gate. It asks the database for each request: a role that is taken back is gone. */
export const tokenProvider = (pool) => ({
  openapi: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
  async authenticate(request) {
    const claims = await request.jwtVerify().catch((error) => {
      // A missing, invalid or expired token is an anonymous caller; anything else is a failure: 503.
      if (error.statusCode !== 401 && error.statusCode !== 400) throw error
    })
    if (!claims) return null
    const { rows } = await pool.query(member, [claims.sub, claims.organisation])
    request.member = rows[0] ?? null
    return { id: claims.sub, permissions: permissionsOf(request.member) }
  },
})

const permissionsOf = (member) => roles.get(member?.role) ?? []

/** The organisation whose settings a request reads and writes; null for everybody who does not belong to it. */
export function organisationOf({ member }, caller) {
  return caller && member && { id: member.id, name: member.name, permissions: permissionsOf(member) }
}

/** The organisation of a caller. @throws {ForbiddenException} the caller is not a member of it */
export function requireMember({ member }) {
  if (!member) throw new ForbiddenException('You are not a member of this organisation.')
  return member
}
