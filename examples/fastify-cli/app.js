'use strict'

const path = require('node:path')
const autoload = require('@fastify/autoload')
const { createErrorServerOptions } = require('@fastify-modular/errors')
const fp = require('fastify-plugin')

async function app(fastify, opts) {
  fastify.register(autoload, { dir: path.join(__dirname, 'plugins') })
  fastify.register(autoload, { dir: path.join(__dirname, 'routes'), options: { ...opts } })
}

// fastify-cli registers this file as a plugin. Without fastify-plugin it would have a scope of its own, and what the
// gate and the error handler must cover would be outside of it.
module.exports = fp(app, { name: 'app' })

// The options of the server itself: `fastify start --options` reads them here.
module.exports.options = createErrorServerOptions()
