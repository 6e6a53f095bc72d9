/** The module of notes: people write them, and share them with everybody if they like. */
import { defineModule, type Module } from '@fastify-modular/core'
import type { Database } from '../../database/database.ts'
import { notesRoutes } from './notes-routes.ts'
import { NotesService } from './notes-service.ts'
import { createNotesStore } from './notes-store.ts'

export function notesModule(database: Database): Module {
  return defineModule({
    name: 'notes',
    // GET only: the other verbs under the same prefix still answer 401 to anonymous callers (S 5.6).
    publicRoutes: (registry) => void registry.addRegex(/\/api\/notes\/[^/]+\/share$/, { methods: ['GET'] }),
    plugin: async (app) => {
      const notes = new NotesService(createNotesStore(database, app.events))
      await app.register(notesRoutes, { notes })
    },
  })
}
