/** A second instance of the application on the same database, in a thread: it writes each text that it is sent. */
import { parentPort, workerData } from 'node:worker_threads'
import { postgres } from '@fastify-modular/settings/postgres'
import { expectStatus, requests, startApp } from './app.js'

const app = await startApp(postgres({ connectionString: String(workerData) }))
parentPort?.on('message', (text: string) => void expectStatus(app, requests.put(text), 204))
parentPort?.postMessage('ready') // oxlint-disable-line unicorn/require-post-message-target-origin -- a thread
