/** What only pages with an organisation need: where the page of an organisation reads and writes, its heading, and what a page says whose reader works in another one by now. */
import { type SettingsClient, SettingScope, SettingsRequestError } from '@fastify-modular/settings/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PageConfig } from '../document.ts'
import { formatNamed, plural } from '../texts/messages.ts'
import type { PageTenant } from '../tenant.ts'
import { Button } from './button.tsx'
import { request } from './request.ts'
import { Icon } from './icons.tsx'
import { initialsOf } from '../people.ts'
import { keepDrafts } from './kept-draft.ts'
import { type Access, ownSources, saveAll, type SettingsSource, toFailure } from './model/source.ts'
import { type PageContext, useEditor, usePage } from './page-context.ts'
import { treeOf } from './tree.ts'

/** This script, beside which the pages are. */
const here = import.meta.url

type TenantAccess = Pick<Access, 'fetch' | 'tenant'>

interface TenantSourceInit {
  readonly api: SettingsClient
  readonly access: TenantAccess
  /** Of the organisation that the page is of. */
  readonly tenant: string
  /** Called when the caller works in another one by now, or in none: nothing was written. */
  readonly onElsewhere: () => void
}

/** The values of an organisation: saved all or nothing, and never into another one. */
export function tenantSource({ api, access, tenant, onElsewhere }: TenantSourceInit): SettingsSource {
  /** A refusal may be one of the next organisation, in which the caller has other permissions. */
  async function within<T>(request: () => Promise<T>): Promise<T> {
    try {
      return await request()
    } catch (error) {
      const { status, code } = toFailure(error)
      const now = status === 403 || status === 404 ? await findTenant(access) : undefined
      if (code === 'TENANT_CHANGED' || (now !== undefined && now?.id !== tenant)) onElsewhere()
      throw error
    }
  }

  return {
    isOwn: false,
    isShared: false,
    values: () =>
      within(async () => {
        const values = await api.tenantValues()
        if (values.some((value) => value.tenant !== tenant))
          throw new SettingsRequestError(409, { code: 'TENANT_CHANGED' })
        return values
      }),
    definitions: async () =>
      (await api.definitions()).filter(
        ({ scope }) => scope === SettingScope.Tenant || scope === SettingScope.User,
      ),
    own: async () => ownSources(await api.mine(), ['user']),
    save: (entries) => saveAll(entries, () => within(() => api.setTenantValues(tenant, entries))),
    reset: ({ key, version }) => within(() => api.resetTenantValue(tenant, key, { version })),
  }
}

/** Returns the organisation in which the caller works now; null where there is none, undefined where no page says so. */
async function findTenant(access: TenantAccess): Promise<PageTenant | null | undefined> {
  const ask = async (page: string): Promise<PageConfig> => {
    const response = await request(new URL(`../${page}.json`, here).href, access.tenant, access.fetch)
    return (await response.json()) as PageConfig // of our own server
  }
  try {
    return (await Promise.any(['preferences', 'tenant', 'manage'].map(ask))).tenant ?? null
  } catch {
    return undefined
  }
}

/** The name of the organisation, and whom its values concern. */
export function Heading({ text }: { readonly text: string }): ComponentChildren {
  const { tenant = {}, messages } = usePage()
  return (
    <div className="fm-head is-small">
      <span className="fm-mark" aria-hidden="true">
        {Array.from(initialsOf(text)).slice(0, 1)}
      </span>
      <h1 dir="auto" part="heading">
        {text}
      </h1>
      <p className="fm-small" dir="auto">
        {formatNamed(messages.tenantHint, messages.tenantHintUnnamed, tenant)}
      </p>
    </div>
  )
}

/** What the reader entered before, in this organisation and this window. */
export function draftsName({ callerId, tenant }: Pick<PageContext, 'callerId' | 'tenant'>): string {
  return JSON.stringify([callerId, tenant?.id])
}

/** In place of rows: where the reader is now, what became of the drafts, and the way on. */
export function Elsewhere(): ComponentChildren {
  const page = usePage()
  const { root, access, editor, locale, messages } = page
  const drafts = useEditor((state) => state.drafts)
  const [text, setText] = useState('')
  useEffect(() => {
    const say = (now: PageTenant | null = null): void =>
      setText(formatNamed(messages.inTenant, messages.leftTenant, now ?? {}))
    void findTenant(access).then(say)
  }, [access, messages])
  const button = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    // The row is gone that had it.
    const focused = treeOf(root.current).activeElement
    if (!focused || focused === document.body) button.current?.querySelector('button')?.focus()
  }, [root])

  function reload(): void {
    const { byKey } = editor.state
    const kept = [...drafts].filter(([key]) => !editor.isOwn && byKey.get(key)?.sensitive === false)
    keepDrafts(draftsName(page), Object.fromEntries(kept.map(([key, { input }]) => [key, input])))
    // For what is left the browser asks.
    const left = [...drafts].filter((draft) => !kept.includes(draft))
    editor.arrive((state) => ({ ...state, drafts: new Map(left) }))
    location.reload()
  }

  return (
    <div className="fm-end">
      <div className="fm-bar fm-line" part="bar" role="region" aria-label={messages.unsavedChanges}>
        <div className="fm-say is-warn">
          <Icon name="users" />
          <div role="status">
            <b dir="auto">{text}</b>
            {drafts.size > 0 && (
              <p className="fm-small">
                {plural(messages.draftsStay, drafts.size, locale)} {messages.nothingSaved}
              </p>
            )}
          </div>
        </div>
        <span className="fm-push" ref={button}>
          <Button look="main" onClick={reload} text={messages.reload} />
        </span>
      </div>
    </div>
  )
}
