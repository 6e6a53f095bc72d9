// Runs the example host until it ends; a signal that this process gets is handed over.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'

export default async function host() {
  const child = spawn(process.execPath, ['packages/host-example/dist/main.js'], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  const [code, signal] = await once(child, 'exit')
  process.exit(code ?? 128 + constants.signals[signal])
}
