'use strict'

const { memoryStore, setting, settings, SettingScope } = require('@fastify-modular/settings')
const fp = require('fastify-plugin')

const definitions = {
  pageSize: setting.number('notes.page-size', {
    displayName: 'Notes on a page',
    scope: SettingScope.Application,
    default: 20,
    min: 1,
    max: 100,
  }),
}

module.exports = fp(async (fastify) => {
  // Values are gone with the process: sqlite({ file }) and postgres({ connectionString }) keep them.
  await fastify.register(settings, { definitions: [definitions], store: memoryStore() })
})
