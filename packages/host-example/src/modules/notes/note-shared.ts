/** The event that a note became readable for everybody. */
import { defineEvent } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'

/** Published once each time the owner shares the note. */
export class NoteShared extends defineEvent(
  'notes.shared',
  Type.Object({ noteId: Type.String(), owner: Type.String(), title: Type.String() }),
) {}
