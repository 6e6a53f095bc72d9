// Two instances of the example host behind one balancer, on one PostgreSQL: node examples/two-instances/main.mjs
// Uses DATABASE_URL (postgres://…), or starts a server of its own. Build first: npm run build.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startBalancer } from '@fastify-modular/test-support/balancer'
import { guard } from '@fastify-modular/test-support/guard'
import { startPostgres } from '@fastify-modular/test-support/postgres'

const host = fileURLToPath(new URL('../../packages/host-example/dist/main.js', import.meta.url))
const server = process.env.DATABASE_URL ? undefined : await startPostgres()
const databaseUrl = process.env.DATABASE_URL ?? server.url
const secret = process.env.SESSION_SECRET ?? 'two instances must share the secret that signs their cookies'

const instances = []
for (const name of ['one', 'two']) instances.push(await startInstance(name)) // one after the other: the log stays readable
const balancer = await startBalancer({
  ports: instances.map(({ port }) => port),
  port: Number(process.env.PORT ?? 3000),
})
console.log(
  `\nThe balancer listens at ${balancer.url}; each answer names the port of its instance in x-instance.`,
)
console.log('Demo accounts: admin, editor, alice, bob; the password of each is demo-<name>.')
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => void stop())

/** Starts one instance on a free port and waits for its address. */
async function startInstance(name) {
  const env = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    PORT: '0',
    HOST: '127.0.0.1',
    SESSION_SECRET: secret,
  }
  const child = spawn(process.execPath, [host], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const callOff = guard({ pid: child.pid }) // the instance ends with this process, even if that is killed
  const ended = once(child, 'exit').finally(callOff)
  const port = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      process.stdout.write(text.replace(/^(?=.)/gm, `[${name}] `))
      const address = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text)
      if (address) resolve(Number(address[1]))
    })
    child.once('exit', (code) => reject(new Error(`Instance ${name} ended with code ${code}`)))
  })
  return { port, child, ended }
}

async function stop() {
  await balancer.close()
  for (const { child } of instances) child.kill('SIGTERM')
  await Promise.all(instances.map(({ ended }) => ended))
  await server?.stop()
}
