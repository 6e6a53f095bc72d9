/** `GET /`: the values of many settings (S 4.1, decisions 16 and 26). */
import { addVary } from '@fastify-modular/core/internal'
import { Type } from '@sinclair/typebox'
import type { SettingsService } from '../../create-settings.ts'
import {
  type DefinitionFilter,
  listShared,
  type OwnValues,
  readOwnValues,
  selectStates,
  type Translations,
} from '../../reading/list.ts'
import { SettingScope } from '../../setting-definition.ts'
import { callerOf } from '../access.ts'
import { fingerprint, sendUnlessUnchanged } from '../conditional.ts'
import { type Localizer, toDefinitionDto } from '../localized-definitions.ts'
import { operation } from '../operation.ts'
import { closed, ScopeText, search, type SettingsApp, SettingValue } from '../schemas.ts'

export function addListRoute(
  app: SettingsApp,
  service: SettingsService,
  { sharedLists, localizer }: { readonly sharedLists: SharedLists; readonly localizer: Localizer },
): void {
  app.get(
    '/',
    operation({
      operationId: 'listSettings',
      summary: 'List settings by scope and group; sensitive values are null',
      query: Type.Object(
        { scope: Type.Optional(ScopeText), group: Type.Optional(Type.String()), ...search },
        closed,
      ),
      ok: Type.Array(SettingValue),
      tag: 'compared',
    }),
    // No promise for shared lists: most requests are answered with what was sent before.
    (request, reply): Promise<unknown> | undefined => {
      const { id } = callerOf(request)
      const { scope, ...filter } = request.query
      // A search covers the texts in the caller's language too.
      const localized = localizer.isActive && filter.q ? localizer.forRequest(request) : undefined
      reply.header('cache-control', 'private, no-cache')
      addVary(reply, 'Cookie, Authorization')
      if (localized) addVary(reply, 'Accept-Language')
      if (scope === SettingScope.User) return sendOwnList()
      sendUnlessUnchanged(request, reply, sharedLists.tagIn(localized?.locale), () =>
        sharedLists.bodyOf(scope, filter, localized?.translations),
      )
      return undefined

      async function sendOwnList(): Promise<unknown> {
        const own = await readOwnValues(service, id)
        return sendUnlessUnchanged(request, reply, sharedLists.ownTagIn(localized?.locale, own), () => {
          const selected = selectStates(service.states(), filter, localized?.translations)
          return Buffer.from(JSON.stringify(selected.map(own.of).filter(({ isOverridden }) => isOverridden)))
        })
      }
    },
  )
}

/** Lists of shared values as JSON, by scope and group, kept until a shared value changes; and their entity tag. */
export class SharedLists {
  readonly #service: SettingsService
  readonly #bodies = new Map<string, Buffer>()
  /** Which values a list selects depends on the definitions, which are frozen when requests arrive. */
  #definitions: string | undefined
  #content: string | undefined
  #generation = -1

  constructor(service: SettingsService) {
    this.#service = service
  }

  bodyOf(
    scope: SettingScope | undefined,
    filter: DefinitionFilter,
    translations: Translations | undefined,
  ): Buffer {
    const isSearch = filter.q !== undefined || filter.tag !== undefined
    return isSearch ? this.#make(scope, filter, translations) : this.#kept(scope, filter.group)
  }

  /**
   * One tag for all shared lists, because caches keep them by their URL; the locale is that of a search. The revision
   * alone is not enough: a database that was restored from a backup comes to the same revisions again, with other values.
   * Undefined while memory holds a later write, but not all before it: such content belongs to no revision.
   */
  tagIn(locale: string | undefined): string | undefined {
    const { complete, revision } = this.#service.sharedValues
    if (!complete) return undefined
    return `"r${revision}-${this.#fingerprint()}${locale === undefined ? '' : `-${locale}`}"`
  }

  /** The tag of what one user has stored, with what it inherits. */
  ownTagIn(locale: string | undefined, { versions }: OwnValues): string | undefined {
    const shared = this.tagIn(locale)
    return shared && `${shared.slice(0, -1)}-${fingerprint(versions)}"`
  }

  /** Changes with any definition and any value. */
  #fingerprint(): string {
    this.#dropOutdated()
    this.#definitions ??= fingerprint(
      JSON.stringify(this.#service.states().map(({ setting }) => toDefinitionDto(setting.definition))),
    )
    this.#content ??= fingerprint(`${this.#definitions} ${String(this.#kept(undefined, undefined))}`)
    return this.#content
  }

  #kept(scope: SettingScope | undefined, group: string | undefined): Buffer {
    this.#dropOutdated()
    const name = JSON.stringify([scope, group])
    const known = this.#bodies.get(name)
    if (known) return known
    const body = this.#make(scope, { group })
    // An empty list is not kept: callers can invent any number of groups.
    if (body.length > '[]'.length) this.#bodies.set(name, body)
    return body
  }

  #make(scope: SettingScope | undefined, filter: DefinitionFilter, translations?: Translations): Buffer {
    const values = listShared(this.#service.states(), { scope, ...filter }, translations)
    return Buffer.from(JSON.stringify(values))
  }

  #dropOutdated(): void {
    const { generation } = this.#service.sharedValues
    if (generation === this.#generation) return
    this.#generation = generation
    this.#bodies.clear()
    this.#content = undefined
  }
}
