/** @fastify-modular/settings/testing: values for one test, and settings without Fastify. */
export { fakeSettings } from './fake-settings.ts'
export { overrideSettings, type OverrideValues } from './override-settings.ts'
