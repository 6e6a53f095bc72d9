/** Changes that have to be kept: which are open, what became of one, and how one is kept. */
import { type Caller, NotFoundException } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'
import { readHistory } from '../../history/history.ts'
import type { StoredWindow } from '../../store/windows.ts'
import { updatePermission } from '../../visibility.ts'
import { addressFor, callerOf, requireUpdate, writeOptionsOf } from '../access.ts'
import type { RouteContext } from '../context.ts'
import type { FastifyReply } from 'fastify'
import { operation } from '../operation.ts'
import { closed, HistoryEntries, nullable, People, Revision, RevisionParams } from '../schemas.ts'

const windowMembers = {
  revision: Revision,
  state: nullable(
    Type.String({ description: 'open, kept, put-back or conflicted; null where nothing had to be kept' }),
  ),
  due: nullable(Type.String({ description: 'when it is put back unless it is kept; ISO 8601, UTC' })),
}

export function addWindowRoutes(context: RouteContext): void {
  const { app, service } = context
  app.get(
    '/changes/:revision',
    operation({
      operationId: 'getSettingChange',
      summary: 'One change set, and whether it has been kept',
      checkedByHandler: updatePermission,
      params: RevisionParams,
      ok: Type.Object({
        ...windowMembers,
        by: nullable(Type.String()),
        reasons: Type.Record(Type.String(), Type.String(), {
          description: 'by key, why it was not put back',
        }),
        entries: HistoryEntries,
        people: People,
      }),
    }),
    async (request) => {
      const caller = requireUpdate(request)
      const { revision } = request.params
      const { entries } = await entriesOf(context, caller, revision)
      if (entries.length === 0) throw new NotFoundException('Change set', revision)
      const [first] = entries
      const { reasons = {}, ...window } = toWindow(await service.windows.find(revision))
      const shown = Object.entries(reasons).filter(([key]) => entries.some((entry) => entry.key === key))
      return {
        revision,
        ...window,
        by: first?.actor ?? null,
        reasons: Object.fromEntries(shown),
        entries,
        people: await context.people([first?.actor]),
      }
    },
  )

  app.post(
    '/changes/:revision/keep',
    operation({
      operationId: 'keepSettingChange',
      summary: 'Keep a change set, or extend the time to do so',
      checkedByHandler: updatePermission,
      params: RevisionParams,
      body: Type.Object(
        {
          within: Type.Optional(
            Type.Integer({ minimum: 5, maximum: 86_400, description: '5 to 86400 seconds' }),
          ),
        },
        closed,
      ),
      ok: Type.Object(windowMembers),
    }),
    async (request) => {
      const { revision } = request.params
      const { within } = request.body
      const options = { ...writeOptionsOf(request), within, as: callerOf(request) }
      const { state, due } = toWindow(await service.windows.keep(revision, options))
      return { revision, state, due }
    },
  )
}

/** Says where the change of a write is kept, and until when. */
export function announceWindow(reply: FastifyReply, window: StoredWindow | undefined): void {
  if (window?.state !== 'open') return
  const { revision } = window
  reply.header('location', `${addressFor(reply.request)}/changes/${revision}`)
  reply.header('settings-confirm-by', new Date(window.due).toISOString())
}

/** What the caller may see of a change set. */
async function entriesOf({ service }: Pick<RouteContext, 'service'>, caller: Caller, revision: number) {
  return readHistory(service, { revision, visibleTo: caller, limit: 500 })
}

/** The open windows, each with what the caller may see of it; the rest is counted. */
export async function listOpen(context: Pick<RouteContext, 'service' | 'people'>, caller: Caller) {
  const { at: now, windows } = await context.service.windows.open()
  const changes = await Promise.all(
    windows.map(async (window) => {
      const { entries } = await entriesOf(context, caller, window.revision)
      const all = await context.service.store.history({ revision: window.revision, limit: 1 })
      const [first] = entries
      const { state, due } = toWindow(window)
      return {
        revision: window.revision,
        state,
        due,
        at: first?.at ?? '',
        actor: first?.actor ?? null,
        entries,
        hidden: (all[0]?.setSize ?? 0) - entries.length,
      }
    }),
  )
  const people = await context.people(changes.map(({ actor }) => actor))
  return { changes, next: null, people, now: new Date(now).toISOString() }
}

function toWindow(window: StoredWindow | undefined) {
  return {
    state: window?.state ?? null,
    due: window ? new Date(window.due).toISOString() : null,
    reasons: window?.reasons,
  }
}
