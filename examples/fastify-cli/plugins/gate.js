'use strict'

const { publicRoutes } = require('@fastify-modular/public-routes')
const fp = require('fastify-plugin')

// Put what knows your users here: @fastify/jwt, a session, an identity provider.
const callers = new Map([
  ['alice-token', { id: 'alice' }],
  ['admin-token', { id: 'root', isAdmin: true }],
])

const provider = {
  authenticate: ({ headers }) => callers.get(headers.authorization?.replace(/^Bearer /, '')) ?? null,
}

// fastify-plugin here, too: the gate stands at the root, or it refuses to start.
module.exports = fp(async (fastify) => {
  await fastify.register(publicRoutes, { provider })
})
