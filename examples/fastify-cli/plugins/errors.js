'use strict'

const { errors } = require('@fastify-modular/errors')
const fp = require('fastify-plugin')

// autoload reads this folder in alphabetical order: the error pipeline comes first, then the gate, then the settings.
module.exports = fp(async (fastify) => {
  await fastify.register(errors)
})
