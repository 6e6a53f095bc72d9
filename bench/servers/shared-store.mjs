// What the instances of one application share: a setting, and the place where it is stored.
import { setting, SettingScope } from '@fastify-modular/settings'
import { postgres } from '@fastify-modular/settings/postgres'
import { sqlite } from '@fastify-modular/settings/sqlite'

export const watched = setting.number('bench.watched', {
  displayName: 'Watched',
  scope: SettingScope.Application,
  default: 0,
})

/** The store at a URL of PostgreSQL, or else in a SQLite file; with the default intervals. */
export function openStore(place) {
  return place.startsWith('postgres:') ? postgres({ connectionString: place }) : sqlite({ file: place })
}
