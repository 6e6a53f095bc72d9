/** The rules for the OpenAPI document of the example: Spectral's own for OpenAPI, and that each operation says who may call it. */
import { createRulesetFunction, Ruleset } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'

interface Operation {
  readonly security?: readonly object[]
  readonly responses: Readonly<Record<string, unknown>>
  readonly 'x-permission'?: string
}

/** `security` is stated; what it protects names 401, and 403 where a permission is needed. */
const statesAccess = createRulesetFunction<Operation, null>(
  { input: { type: 'object' }, options: null },
  function statesAccess({ security, responses, 'x-permission': permission }) {
    if (security === undefined) return [{ message: 'The operation does not state its security.' }]
    const wanted = [...(security.length > 0 ? ['401'] : []), ...(permission === undefined ? [] : ['403'])]
    return wanted
      .filter((status) => !(status in responses))
      .map((status) => ({ message: `The operation does not name ${status}.` }))
  },
)

export const ruleset = new Ruleset({
  extends: [[oas, 'recommended']],
  rules: {
    'states-access': {
      given: '$.paths[*][get,put,post,delete,patch]',
      severity: 'error',
      // oxlint-disable-next-line unicorn/no-thenable -- the field of Spectral
      then: { function: statesAccess },
    },
  },
})
