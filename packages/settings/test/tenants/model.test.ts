/**
 * People and organisations at random, on each engine: no difference, and no value of another organisation.
 * `npm run prove:tenants` takes 20,000 steps.
 */
import t, { test } from 'tap'
import { engines } from '../support/engines.ts'
import { runModel } from './model.ts'

t.setTimeout(3_600_000)

const steps = Number(process.env['TENANT_STEPS'] ?? 2000)
const seed = Number(process.env['TENANT_SEED'] ?? 1)
const only = process.env['TENANT_ENGINE']

for (const [name, make] of Object.entries(engines)) {
  if (only !== undefined && only !== name) continue
  test(
    `${name}: everybody reads what the model says, and nothing of another organisation`,
    { timeout: 900_000 },
    async (t) => {
      const counts = await runModel(t, await make(t), { steps, seed })
      t.ok(Object.keys(counts).length >= 10, JSON.stringify(counts))
    },
  )
}
