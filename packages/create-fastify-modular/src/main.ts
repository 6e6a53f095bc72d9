#!/usr/bin/env node
/** `npm create fastify-modular my-app` */
import { run } from './run.ts'

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
})
