/** What the process takes from its environment before there is an application. Anything that does not fit stops the start. */
import { setting, SettingScope } from '@fastify-modular/settings'

const { System } = SettingScope

/** Addresses in full: 1 would be 0.0.0.1, and a zero in front octal. */
const address = '(?:[1-9]\\d*(?:\\.(?:0|[1-9]\\d*)){3}|[\\da-f]*:[\\da-f:.]*)'
const network = `(?:loopback|linklocal|uniquelocal|${address}(?:/\\d+)?)`

export const serverSettings = {
  port: setting.number('server.port', {
    displayName: 'Port',
    scope: System,
    env: 'PORT',
    default: 3000,
    min: 0,
    max: 65_535,
  }),
  trustProxy: setting.text('server.trust_proxy', {
    displayName: 'Proxies in front',
    scope: System,
    env: 'TRUST_PROXY',
    default: '',
    pattern: `^(?:${network}(?:, *${network})*)?$`,
    patternHint: 'the addresses of the proxies, such as 10.0.0.5',
  }),
  logLevel: setting.select('server.log_level', {
    displayName: 'Log level',
    scope: System,
    env: 'LOG_LEVEL',
    allowedValues: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
  }),
}
