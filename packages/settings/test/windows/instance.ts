/** An instance of an application whose changes have to be kept, to be killed. It prints its address. */
import { defineModule, modules } from '@fastify-modular/core'
import { setting, settings, SettingScope, type SettingsBuilder } from '@fastify-modular/settings'
import { postgres } from '@fastify-modular/settings/postgres'
import { sqlite } from '@fastify-modular/settings/sqlite'
import Fastify from 'fastify'
import { patient } from '../store/postgres/open-store.ts'

/** The command line of an instance. */
export interface InstancePlan {
  /** A file, or the URL of a PostgreSQL database. */
  readonly database: string
  /** How many windows of each kind there are. */
  readonly copies: number
  /** The second deployment locks some settings, and does not define others any more. */
  readonly deployment: 1 | 2
}

/** What happens to a window. */
export const kinds = [
  'left alone',
  'kept',
  'extended',
  'one overwritten',
  'all overwritten',
  'broken rule',
  'second window',
  'kept when due',
  'reverted',
  'locked',
  'removed',
  'kept and cut off',
] as const

export type Kind = (typeof kinds)[number]

/** The two settings of a window. The first must not exceed the second where the kind has a rule. */
export function keysOf(kind: Kind, copy: number): readonly [string, string] {
  const name = `${kind.replaceAll(' ', '_')}.n${copy}`
  return [`${name}.some`, `${name}.most`]
}

async function main({ database, copies, deployment }: InstancePlan): Promise<void> {
  const locked = Array.from({ length: deployment === 2 ? copies : 0 }, (_, copy) => keysOf('locked', copy)[0])
  const overrides = Object.fromEntries(locked.map((key) => [key, 7]))
  const module = defineModule({
    name: 'w',
    settings: (builder: SettingsBuilder) => {
      for (const kind of kinds) {
        for (let copy = 0; copy < copies; copy++) {
          const [some, most] = keysOf(kind, copy).map((key) =>
            setting.number(key, { displayName: key, scope: SettingScope.Application, default: 1 }),
          )
          if (!some || !most) continue
          builder.add(most)
          if (kind !== 'removed' || deployment === 1) builder.add(some)
          if (kind === 'broken rule')
            builder.rule({ some, most }, (values) =>
              values.some > values.most ? 'Some must not exceed most.' : [],
            )
        }
      }
      return builder
    },
  })
  const app = Fastify({ pluginTimeout: 120_000 })
  const store = database.startsWith('postgres')
    ? postgres({ connectionString: database }, { timeouts: patient })
    : sqlite({ file: database })
  await app.register(settings, { store, overrides, findCaller: () => ({ id: 'ada', isAdmin: true }) })
  await app.register(modules, { modules: [module] })
  process.once('SIGTERM', () => void app.close())
  process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
}

const argument = process.argv[2]
if (process.argv[1] === import.meta.filename && argument !== undefined) await main(JSON.parse(argument))
