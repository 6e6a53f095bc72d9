/** A mail server for tests, which signs people in. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { Teardown } from './host.js'

/** A mail server that knows one account, and the passwords that it was shown. */
export async function startSmtp(t: Teardown) {
  const shown: unknown[] = []
  const server = new SMTPServer({
    authMethods: ['PLAIN'],
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth({ username, password }, _session, done) {
      shown.push(password)
      if (username === 'app' && password === 'right') done(null, { user: username })
      else done(new Error(`no such account: ${password}`))
    },
  })
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { shown, port: portOf(listening.address()) }
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address === 'object' && address) return address.port
  throw new Error('The server does not listen.')
}
