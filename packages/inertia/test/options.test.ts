import Fastify from 'fastify'
import { test } from 'tap'
import { inertia, type InertiaOptions } from '@fastify-modular/inertia'

/** Registers the plugin with options as JavaScript may hand them in. */
async function boot(options: object): Promise<void> {
  const app = Fastify()
  await app.register(inertia, options as InertiaOptions)
  await app.close()
}

test('an unknown option stops the boot, and so does one of another type', async (t) => {
  await t.rejects(boot({ versoin: '1' }), {
    code: 'FMOD_CORE_INVALID_OPTION',
    message:
      /unknown option versoin \(did you mean version\?\); expected version, share, rootTemplate, nonce, encryptHistory, flash, basePath or precognition/,
  })
  for (const [name, value] of Object.entries({
    version: 1,
    share: 'x',
    rootTemplate: 1,
    nonce: 'abc',
    encryptHistory: 'yes',
    flash: { put: () => {} },
    basePath: '/tools/',
    precognition: 'yes',
  })) {
    await t.rejects(boot({ [name]: value }), {
      code: 'FMOD_CORE_INVALID_OPTION',
      message: new RegExp(`${name} must be`),
    })
  }
})

test('options that fit, and those that Fastify itself reads, are taken', async (t) => {
  await t.resolves(
    boot({ version: null, share: { a: 1 }, rootTemplate: () => '', encryptHistory: true, logLevel: 'warn' }),
  )
  await t.resolves(boot({ version: () => '1', share: () => ({}), rootTemplate: '<!--inertia-->' }))
})
