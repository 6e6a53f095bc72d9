/** The administration in the prebuilt flavour. */
import { test } from 'tap'
import { adminScenarios } from '../support/admin-scenarios.js'
import { visit } from '../support/visit.js'

test('the administration', async (t) => {
  const visited = await visit(t)
  if (visited) await adminScenarios(t, visited)
})
