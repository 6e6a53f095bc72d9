/** Versions of Fastify that the plugins of all packages run on, for their `fastify` metadata. */
export const supportedFastify = '5.x || 6.x'
