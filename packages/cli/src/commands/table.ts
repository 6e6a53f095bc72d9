/** All commands by name. */
import type { CliCommand } from '../command.ts'
import { accessCommands } from './access.ts'
import { doctorCommands } from './doctor.ts'
import { eventsCommands } from './events.ts'
import { settingsCommands } from './settings.ts'

export const commands: Readonly<Record<string, CliCommand>> = {
  ...doctorCommands,
  ...accessCommands,
  ...settingsCommands,
  ...eventsCommands,
}
