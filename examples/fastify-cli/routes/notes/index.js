'use strict'

const { NotFoundException } = require('@fastify-modular/core')

const notes = new Map([['1', { id: '1', text: 'Water the plants' }]])

// autoload gives the routes of this folder the prefix /notes.
module.exports = async function noteRoutes(fastify) {
  fastify.get('/', async ({ caller }) => ({
    owner: caller.id,
    notes: [...notes.values()].slice(0, fastify.settings.get('notes.page-size')),
  }))

  fastify.get('/count', { config: { access: 'public' } }, async () => ({ count: notes.size }))

  fastify.get('/:id', async ({ params }) => {
    const note = notes.get(params.id)
    if (!note) throw new NotFoundException('Note', params.id)
    return note
  })
}
