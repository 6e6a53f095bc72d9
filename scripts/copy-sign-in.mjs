// Copies the sign-in of created applications into the example: one file, which a test of the example compares.
import { copyFile } from 'node:fs/promises'

const root = new URL('../packages/', import.meta.url)
await copyFile(
  new URL('create-fastify-modular/template/src/sign-in.ts', root),
  new URL('host-example/src/sign-in.ts', root),
)
