/** The same scenarios with React itself (UI-30). */
import { test } from 'tap'
import { adminScenarios } from '../support/admin-scenarios.js'
import { prebuiltEntry, serve } from '../support/react-flavour.js'
import { visit } from '../support/visit.js'

test('UI-30: the administration with React', async (t) => {
  const visited = await visit(t)
  if (!visited) return
  await serve(visited.page, { file: prebuiltEntry })
  await adminScenarios(t, visited)
})
