// What `npx fastify-modular` opens, once `npm run build` has compiled it.
import { createApp } from './dist/app.js'
import { readConfig } from './dist/config.js'

export default ({ command }) => createApp(readConfig(process.env), { command })
