// Prints a token, as your sign-in would issue it: node examples/saas/token.mjs ada acme
import jwt from '@fastify/jwt'
import Fastify from 'fastify'

const [sub, organisation] = process.argv.slice(2)
const app = Fastify()
await app.register(jwt, { secret: process.env.JWT_SECRET })
console.log(app.jwt.sign({ sub, organisation }, { expiresIn: '1h' }))
