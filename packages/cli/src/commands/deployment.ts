/** The commands `doctor`, `migrate` and `access`: what is wrong with a deployment, its tables, and who may call which route. */
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { currentCommand, type Finding } from '@fastify-modular/core/internal'
import type { AccessRow } from '@fastify-modular/public-routes'
import { Option } from 'commander'
import type { FastifyInstance } from 'fastify'
import type { CliCommand } from '../command.ts'
import { mostLetters } from './events.ts'
import { foreignHooks } from '../foreign-hooks.ts'
import { scopeName } from './settings.ts'
import { exitCodes } from '../report.ts'

export const deploymentCommands: Readonly<Record<string, CliCommand>> = {
  doctor: {
    summary: 'looks for what is wrong with this deployment; exit code 3 if anything is',
    runsAnyway: true,
    async run(app) {
      const found = await examine(app)
      const hooks = foreignHooks().map((place) => `ran: an onReady hook of ${place}`)
      const data = { findings: found, hooks }
      if (found.length === 0) return { data, lines: ['nothing wrong', ...hooks] }
      return { data, rows: found, columns: ['kind', 'text'], lines: hooks, exit: exitCodes.differences }
    },
  },
  migrate: {
    summary: 'makes and migrates the tables of settings and events',
    options: [new Option('--plan', 'says which tables are missing or out of date; exit code 3 if any are')],
    migrates: ({ plan }) => !plan,
    runsAnyway: true,
    // The tables are made while the application opens.
    async run() {
      const missing = findings().filter(({ kind }) => kind === 'missing migration')
      if (missing.length === 0) return { data: [], lines: ['The tables are up to date.'] }
      return { data: missing, lines: missing.map(({ text }) => text), exit: exitCodes.differences }
    },
  },
  access: {
    summary: 'who may call which route; with --check what differs from the committed file',
    args: '[file]',
    options: [
      new Option('--check', 'compares with the file (default access.json); exit code 3 if they differ'),
      new Option('--update', 'writes the file'),
    ],
    runsAnyway: true,
    async run(app, { args: [file = 'access.json'], options: { check, update = false } }) {
      const table: readonly AccessRow[] = app.access.table()
      if (!update && !check) return { data: table, lines: app.access.print().trimEnd().split('\n') }
      const changes = await app.access.compare(pathToFileURL(file), { update })
      if (changes.length === 0) return { data: [], lines: [`${file} says what holds.`] }
      if (update) return { data: changes, lines: [`${file} is written.`] }
      return { data: changes, lines: [...changes], exit: exitCodes.differences }
    },
  },
}

/** What the boot has found. */
function findings(): readonly Finding[] {
  return currentCommand()?.findings ?? []
}

async function examine(app: FastifyInstance): Promise<readonly Finding[]> {
  // What has no tables, or tables that no other process sees, is not looked into: a finding of the boot says why.
  const isClosed = findings().some(({ kind }) => kind === 'missing migration' || kind === 'memory store')
  const stored = isClosed ? [] : [...(await orphans(app)), ...(await deadLetters(app))]
  return [...findings(), ...stored, ...(await accessFile(app))]
}

async function orphans(app: FastifyInstance): Promise<readonly Finding[]> {
  if (!app.hasDecorator('settings')) return []
  return (await app.settings.orphans()).map(({ key, scope, rows }) => {
    const values = `"${key}" has ${rows} ${rows === 1 ? 'value' : 'values'} of the scope ${scopeName(scope)}`
    return app.settings.definitions.getDefinition(key) === null
      ? { kind: 'orphan', text: `${values}, and no module defines it.` }
      : { kind: 'row of another scope', text: `${values}, which its definition does not have.` }
  })
}

async function deadLetters(app: FastifyInstance): Promise<readonly Finding[]> {
  const letters = app.hasDecorator('events') ? app.events.deadLetters : null
  const found = (await letters?.list(mostLetters)) ?? []
  const count = found.length < mostLetters ? found.length : `${mostLetters} or more`
  return found.slice(0, 1).map(({ handler, type, error }) => ({
    kind: 'dead letters',
    text: `There are ${count}. First: ${handler} could not handle ${type}: ${error}`,
  }))
}

async function accessFile(app: FastifyInstance): Promise<readonly Finding[]> {
  if (!app.hasDecorator('access') || !existsSync('access.json')) return []
  const changes = await app.access.compare(pathToFileURL('access.json'))
  return changes.map((text) => ({ kind: 'access file out of date', text: `access.json: ${text}` }))
}
