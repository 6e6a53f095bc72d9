/** Live clients of an application that listens. */
import type { AddressInfo } from 'node:net'
import type { SettingsOptions } from '@fastify-modular/settings'
import type { JsonValue } from '@fastify-modular/settings/client'
import { createLiveClient, type LiveClient } from '@fastify-modular/settings/client/live'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { start as startApp } from './reader.ts'

/** An application that closes although a client may keep a connection for its next request. */
export function start(t: Test, options?: SettingsOptions): Promise<FastifyInstance> {
  return startApp(t, options, { keepAliveTimeout: 100 })
}

export function portOf(app: FastifyInstance): number {
  return (app.server.address() as AddressInfo).port
}

export async function clientOf(app: FastifyInstance, options = {}): Promise<LiveClient> {
  return createLiveClient({
    baseUrl: `http://127.0.0.1:${portOf(app)}/api/settings`,
    headers: { 'x-caller': 'alice' },
    ...options,
  })
}

/** What a listener was called with. */
export function follow(t: Test, client: LiveClient, key: string) {
  const values: JsonValue[] = []
  const stop = client.watch(key, (value) => void values.push(value))
  t.teardown(stop)
  return { values, stop }
}
