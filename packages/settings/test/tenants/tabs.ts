/** A window of somebody's browser, which follows what holds in the organisation of its session, and remembers what it was given. */
import assert from 'node:assert/strict'
import { createLiveClient, type LiveClient } from '@fastify-modular/settings/client/live'
import { until } from '@fastify-modular/test-support/until'
import type { FastifyInstance } from 'fastify'
import { portOf } from '../support/live.ts'

/** Who is signed in, and which organisation the session names. */
interface Session {
  readonly person: string
  readonly named: string | undefined
}

const local = { port: 0, host: '127.0.0.1' }

export class Tab {
  readonly #app: FastifyInstance
  readonly #page: LiveClient
  readonly #keys: readonly string[]
  #session: Session
  /** Whose values it may be given: those of its sessions since it was looked at. */
  readonly #allowed = new Set<string>()
  /** A value that it was given although it was for somebody else. */
  #leak: string | undefined

  private constructor(app: FastifyInstance, baseUrl: string, keys: readonly string[], session: Session) {
    this.#app = app
    this.#keys = keys
    this.#session = session
    const headers = () => {
      const { person, named } = this.#session
      return { 'x-caller': person, ...(named && { 'settings-tenant': named }) }
    }
    this.#page = createLiveClient({ baseUrl, headers })
    this.#allow(session.named)
  }

  static async open(
    t: { teardown(close: () => unknown): unknown },
    app: FastifyInstance,
    { keys, ...session }: Session & { readonly keys: readonly string[] },
  ): Promise<Tab> {
    if (app.addresses().length === 0) await app.listen(local)
    const tab = new Tab(app, `http://127.0.0.1:${portOf(app)}/api/settings`, keys, session)
    for (const key of keys) t.teardown(tab.#page.watch(key, (value) => tab.#take(String(value))))
    return tab
  }

  /** A second window has signed in, or switched: this one finds out when its stream ends. */
  switch(session: Session): void {
    const old = this.#session.person
    this.#session = session
    this.#allow(session.named)
    this.#app.settings.endStreams(old)
  }

  /** A person has become a member of an organisation, or is none any more. */
  moved(person: string, tenant: string): void {
    if (this.#session.person === person && this.#session.named === tenant) this.#allow(tenant)
  }

  /**
   * What it shows is soon what holds, and it was given nothing else.
   * @param find returns the organisation in which the session works, and what holds there
   */
  async look(
    find: (session: Session) => { readonly tenant: string | undefined; readonly values: readonly unknown[] },
  ): Promise<void> {
    const { tenant } = find(this.#session)
    await this.#app.settings.refresh()
    this.#app.settings.endStreams(this.#session.person) // who was a member may be none any more
    await until(() => {
      const { values } = find(this.#session)
      return this.#keys.every((key, index) => this.#page.known(key) === values[index])
    })
    assert.equal(this.#leak, undefined, `a window of ${this.#session.person} in ${tenant}`)
    this.#allowed.clear()
    this.#allow(tenant)
  }

  #allow(tenant: string | undefined): void {
    for (const owner of ['all:all', `user:${this.#session.person}`, `tenant:${tenant}`])
      this.#allowed.add(owner)
  }

  #take(value: string): void {
    const [, owner] = /^(\w+:\w+)-canary-/.exec(value) ?? []
    if (owner !== undefined && !this.#allowed.has(owner)) this.#leak ??= value
  }
}
