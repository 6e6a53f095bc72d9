import { test } from 'tap'
import { ConfigError, readConfig } from '#src/config.js'

const secrets = {
  HOST_ADMIN_PASSWORD: 'a password',
  SESSION_SECRET: 'thirty-two characters, or more of them',
}
const production = { NODE_ENV: 'production', TRUST_PROXY: '10.0.0.5', ...secrets }

const problemsOf = (env: NodeJS.ProcessEnv): readonly string[] => {
  try {
    readConfig(env)
    return []
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [String(error)]
  }
}

test('an empty environment is a demonstration on loopback with a SQLite file', (t) => {
  const config = readConfig({})
  t.equal(config.port, 3000)
  t.equal(config.host, '127.0.0.1')
  t.equal(config.accounts.kind, 'demo')
  t.match(config.database, { kind: 'sqlite', file: /data[/\\]host\.sqlite$/ })
  t.end()
})

test('production, or an address that others can reach, needs secrets', (t) => {
  for (const env of [
    { NODE_ENV: 'production' },
    { HOST: '0.0.0.0' },
    { HOST: '::' },
    { HOST: '192.168.1.5' },
    { TRUST_PROXY: 'loopback' }, // a proxy brings others to the loopback address
    { HOST: '::1', TRUST_PROXY: '10.0.0.0/8' },
  ]) {
    t.match(problemsOf(env).join(), /HOST_ADMIN_PASSWORD.*SESSION_SECRET/, JSON.stringify(env))
  }
  t.match(problemsOf({ HOST: '::' }).join(), /when HOST is not a loopback address/)
  const config = readConfig(production)
  t.same(config.accounts, { kind: 'own', adminPassword: 'a password' })
  t.equal(config.sessionSecret, secrets.SESSION_SECRET)
  t.match(problemsOf({ ...production, TRUST_PROXY: '' }), [/^TRUST_PROXY must name the proxy where TLS ends/])
  t.match(problemsOf({ SESSION_SECRET: 'short' }), [
    /^SESSION_SECRET must be set to at least 32 characters or left unset/,
  ])
  t.end()
})

test('NODE_ENV is unset, development, test or production, and nothing that looks like one of them', (t) => {
  for (const NODE_ENV of ['', 'development', 'test'])
    t.equal(readConfig({ NODE_ENV }).accounts.kind, 'demo', NODE_ENV)
  for (const NODE_ENV of ['Production', 'PRODUCTION', 'prod', 'staging', 'production ', 'dev']) {
    const problems = problemsOf({ NODE_ENV, ...secrets })
    t.same(problems, ['NODE_ENV must be unset, development, test or production.'], NODE_ENV)
  }
  t.end()
})

test('in production an instance drains for five seconds, otherwise not at all', (t) => {
  t.equal(readConfig({}).drainTime, 0)
  t.equal(readConfig(production).drainTime, 5000)
  t.equal(readConfig({ DRAIN_SECONDS: '30' }).drainTime, 30_000)
  t.end()
})

test('every loopback address may be a demonstration', (t) => {
  for (const HOST of ['localhost', '::1', '127.0.0.1', '127.8.8.8']) {
    t.equal(readConfig({ HOST }).accounts.kind, 'demo', HOST)
  }
  t.match(problemsOf({ HOST: '127.0.0.1.evil.test' }), [/HOST_ADMIN_PASSWORD/])
  t.end()
})

test('the message has all problems, and no value', (t) => {
  const problems = problemsOf({
    PORT: '99999',
    DATABASE_URL: 'mysql://root:hunter2@db/x',
    LOG_LEVEL: 'loud',
    DRAIN_SECONDS: '5s',
    NODE_ENV: 'production',
    SESSION_SECRET: 'short',
  })
  t.equal(problems.length, 7)
  t.notMatch(problems.join(), /hunter2|short\b|loud/)
  t.end()
})

test('DATABASE_URL names a file or a server', (t) => {
  t.same(readConfig({ DATABASE_URL: 'sqlite:data/x.db' }).database, { kind: 'sqlite', file: 'data/x.db' })
  const url = 'postgresql://u:p@127.0.0.1:5432/db'
  t.same(readConfig({ DATABASE_URL: url }).database, { kind: 'postgres', url })
  for (const bad of ['sqlite:', 'host.db', 'postgres://[', 'http://x']) {
    t.equal(problemsOf({ DATABASE_URL: bad }).length, 1, bad)
  }
  t.end()
})

test('TRUST_PROXY names the proxies, and never means all addresses', (t) => {
  t.equal(readConfig({}).trustProxy, false)
  for (const good of ['loopback', '10.0.0.1', '10.0.0.0/8, uniquelocal', 'fd00::/8']) {
    t.equal(readConfig({ TRUST_PROXY: good, ...secrets }).trustProxy, good)
  }
  for (const bad of ['true', '1', '*', '0.0.0.0/0', '10.0.0.0/33', '10.0.0.0/', 'proxy.test', 'loopback,']) {
    t.equal(problemsOf({ TRUST_PROXY: bad, ...secrets }).length, 1, bad)
  }
  t.end()
})

test('PORT is a whole number that a socket can have', (t) => {
  t.equal(readConfig({ PORT: '0' }).port, 0)
  t.equal(readConfig({ PORT: '' }).port, 3000)
  for (const bad of ['-1', '1e3', '65536', '80 ', 'x', '0x50'])
    t.equal(problemsOf({ PORT: bad }).length, 1, bad)
  t.end()
})
