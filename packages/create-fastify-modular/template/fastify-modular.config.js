// What `npx fastify-modular` opens, once `npm run build` has compiled it.
export { build as default } from './dist/src/build.js'
