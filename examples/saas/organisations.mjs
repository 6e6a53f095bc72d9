// An organisation, its members, and how many of them its plan allows.
import { defineModule, defineProblem } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'
import { transaction } from './database.mjs'
import { requireMember } from './people.mjs'
import { branding, plan, preferences } from './settings.mjs'

class PlanExhausted extends defineProblem({ status: 409, code: 'PLAN_EXHAUSTED', title: 'Plan exhausted' }) {}

const NewMember = Type.Object({
  person: Type.String({ minLength: 1, maxLength: 255 }),
  role: Type.Union([Type.Literal('owner'), Type.Literal('clerk')]),
})
const Seats = Type.Object({ seats: Type.Integer({ minimum: 1, maximum: 10_000 }) })

export const organisations = (pool) =>
  defineModule({
    name: 'organisations',
    access: 'signed-in',
    permissions: { 'Members.Edit': 'Add members' },
    async plugin(app) {
      app.get('/organisation', async (request) => {
        const { id, role } = requireMember(request)
        const values = await request.settings
        const brand = { name: values.get(branding.name), color: values.get(branding.color) }
        return { id, role, person: request.caller.id, theme: values.get(preferences.theme), ...brand }
      })

      const forOwners = { config: { access: 'Members.Edit' }, schema: { body: NewMember } }
      app.post('/members', forOwners, async (request, reply) => {
        const { id } = requireMember(request)
        const { person, role } = request.body
        const seats = (await request.settings).get(plan.seats)
        await transaction(pool, async (client) => {
          await client.query('SELECT 1 FROM organisations WHERE id = $1 FOR UPDATE', [id]) // two at once: one waits
          const members = await client.query('SELECT 1 FROM members WHERE organisation = $1', [id])
          if (members.rowCount >= seats) throw new PlanExhausted(`Your plan has ${seats} members.`)
          await client.query('INSERT INTO members VALUES ($1, $2, $3)', [id, person, role])
        })
        return reply.code(201).send({ person, role })
      })

      const forOperators = { config: { access: 'Plans.Edit' }, schema: { body: Seats } }
      app.put('/operator/:organisation/seats', forOperators, async ({ params, body, caller }, reply) => {
        await app.settings.set(plan.seats, body.seats, { tenant: params.organisation, actor: caller.id })
        return reply.code(204).send()
      })
    },
  })
