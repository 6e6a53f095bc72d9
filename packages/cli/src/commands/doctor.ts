/** The commands `doctor` and `migrate`: what is wrong with a deployment, and its tables. */
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { currentCommand, type Finding } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import type { CliCommand } from '../command.ts'
import { mostLetters } from './events.ts'
import { foreignHooks } from '../foreign-hooks.ts'
import { scopeNames } from './settings.ts'
import { exitCodes, type Report } from '../report.ts'

export const doctorCommands: Readonly<Record<string, CliCommand>> = {
  doctor: {
    summary: 'looks for what is wrong with this deployment; exit code 3 if anything is',
    runsAnyway: true,
    run: doctor,
  },
  migrate: {
    summary: 'makes and migrates the tables of settings and events',
    options: { '--plan': 'says which tables are missing or out of date; exit code 3 if any are' },
    migrates: ({ options }) => options['plan'] !== true,
    runsAnyway: true,
    run: migrate,
  },
}

/** The tables are made while the application opens. */
async function migrate(): Promise<Report> {
  const missing = findings().filter(({ kind }) => kind === 'missing migration')
  if (missing.length === 0) return { data: [], lines: ['The tables are up to date.'] }
  return { data: missing, lines: missing.map(({ text }) => text), exit: exitCodes.differences }
}

function findings(): readonly Finding[] {
  return currentCommand()?.findings ?? []
}

async function doctor(app: FastifyInstance): Promise<Report> {
  const found = [
    ...findings(),
    ...(await orphans(app)),
    ...(await deadLetters(app)),
    ...(await accessFile(app)),
  ]
  const hooks = foreignHooks().map((place) => `ran: an onReady hook of ${place}`)
  if (found.length === 0) return { data: { findings: [], hooks }, lines: ['nothing wrong', ...hooks] }
  const rows = found.map(({ kind, text }) => ({ found: kind, what: text }))
  return { data: { findings: found, hooks }, rows, lines: hooks, exit: exitCodes.differences }
}

/** A check that the state of the deployment makes impossible is left out: another finding says why. */
async function ifReadable(look: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  const isMissing = findings().some(({ kind }) => kind === 'missing migration' || kind === 'memory store')
  return isMissing ? [] : look()
}

function orphans(app: FastifyInstance): Promise<readonly Finding[]> {
  if (!app.hasDecorator('settings')) return Promise.resolve([])
  return ifReadable(async () =>
    (await app.settings.orphans()).map(({ key, scope, rows }) => {
      const values = `"${key}" has ${rows} ${rows === 1 ? 'value' : 'values'} of the scope ${scopeNames[scope]}`
      return app.settings.definitions.getDefinition(key) === null
        ? { kind: 'orphan', text: `${values}, and no module defines it.` }
        : { kind: 'row of another scope', text: `${values}, which its definition does not have.` }
    }),
  )
}

function deadLetters(app: FastifyInstance): Promise<readonly Finding[]> {
  const letters = app.hasDecorator('events') ? app.events.deadLetters : null
  if (letters === null) return Promise.resolve([])
  return ifReadable(async () => {
    const found = await letters.list(mostLetters)
    const [first] = found
    if (first === undefined) return []
    const { handler, type, error } = first
    const count = found.length < mostLetters ? found.length : `${mostLetters} or more`
    return [
      {
        kind: 'dead letters',
        text: `There are ${count}. First: ${handler} could not handle ${type}: ${error}`,
      },
    ]
  })
}

async function accessFile(app: FastifyInstance): Promise<readonly Finding[]> {
  if (!app.hasDecorator('access') || !existsSync('access.json')) return []
  return (await app.access.compare(pathToFileURL('access.json'))).map((text) => ({
    kind: 'access file out of date',
    text: `access.json: ${text}`,
  }))
}
