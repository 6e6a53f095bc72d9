'use strict'

module.exports = async function root(fastify) {
  fastify.get('/', async () => ({ name: 'notes' })) // public from the start, like /health
}
