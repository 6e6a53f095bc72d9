/** Follows all settings that a caller may see, as rows: for pages that list them. */
import type { StreamedSetting } from '../streams/audience.ts'
import { createOpen, type Open, type SettingsClient, type SettingsClientOptions } from './client.ts'
import type { News } from './connection.ts'
import { isVisible, onPage } from './page.ts'
import { Stream, type StreamInit } from './stream.ts'

/** What is called with what the stream brings. */
export interface Follower {
  /**
   * Settings without `value` where that is secret or long: all that there are, or those that have changed.
   * @param revision of the newest change among all settings; 0 where values were polled
   */
  onSettings(settings: readonly StreamedSetting[], isEverything: boolean, revision: number): void
  /** The caller's own values may have changed. */
  onOwn(): void
  /** How settings arrive from now on; called with `live` again at each sign of life. */
  onState(state: NonNullable<News['state']>): void
}

export interface FollowOptions extends SettingsClientOptions {
  readonly client: Pick<SettingsClient, 'list' | 'mine' | 'publicValues'>
  /** The `settings-tag` of the API's answers: tabs with the same one share a stream. */
  readonly tag: string
}

/** Calls the follower, first with all settings, as long as the page is open. Returns the function that stops it. */
export function followSettings({ client, tag, ...options }: FollowOptions, follower: Follower): () => void {
  const ended = new AbortController()
  const send = createOpen(options)
  const open: Open = async (path, request) => {
    const response = await send(path, request)
    const met = response.headers.get('settings-tag')
    // Another caller has signed in: what this page is told from now on is told to no tab of the one before.
    if (stream.isShared && met !== null && met !== tag) restart()
    return response
  }
  let stream = create(tag)

  function create(name: string | undefined): Stream {
    return new FollowedStream({ client, open, isPublic: false, name, onState }, follower)
  }

  function onState(state: NonNullable<News['state']>): void {
    if (state === 'signed out') stream.stop() // the next one begins when somebody comes back to the page
    follower.onState(state)
  }

  function restart(): void {
    stream.stop()
    stream = create(undefined)
    start()
  }

  function start(): void {
    if (stream.isShared || isVisible()) stream.start()
  }

  onPage('visibilitychange', () => (stream.isShared || isVisible() ? start() : stream.stop()), ended.signal)
  onPage('pageshow', start, ended.signal)
  // Else the browser keeps the page with its lock, and no other tab could lead.
  onPage('pagehide', () => stream.stop(), ended.signal)
  start()
  return () => {
    ended.abort()
    stream.stop()
  }
}

class FollowedStream extends Stream {
  readonly #follower: Follower

  constructor(init: StreamInit, follower: Follower) {
    super(init)
    this.#follower = follower
  }

  override take(news: News): void {
    super.take(news)
    if (news.event && !news.state) this.#follower.onState('live')
  }

  protected onSettings(...event: Parameters<Follower['onSettings']>): void {
    this.#follower.onSettings(...event)
  }

  protected onOwn(): void {
    this.#follower.onOwn()
  }
}
