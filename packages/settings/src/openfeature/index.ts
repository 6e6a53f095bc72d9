/** @fastify-modular/settings/openfeature: settings as the flags of OpenFeature, in process and over HTTP. */
export { ofrep, type OfrepOptions } from './ofrep.ts'
export { openFeatureProvider, type OpenFeatureSettings } from './provider.ts'
