/** All commands by name. */
import type { CliCommand } from '../command.ts'
import { deploymentCommands } from './deployment.ts'
import { eventsCommands } from './events.ts'
import { settingsCommands } from './settings.ts'

export const commands: Readonly<Record<string, CliCommand>> = {
  ...deploymentCommands,
  ...settingsCommands,
  ...eventsCommands,
}
