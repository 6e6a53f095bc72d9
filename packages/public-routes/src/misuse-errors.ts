/** Mistakes of the developer, most of them found while the application boots. One row each in docs/reference/error-codes.md. */
import { inspect } from 'node:util'
import { createErrorCodes } from '@fastify-modular/core/internal'

/** Any value as a message names it. */
export function nameOfValue(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : inspect(value, { depth: 0 })
}

export const errorCodes = createErrorCodes({
  FMOD_PUBLIC_ROUTES_NOT_AT_ROOT:
    'The gate is registered inside the scope "%s" and would leave every route outside of it open. Register it on the root instance, or wrap the plugin that registers it with fastify-plugin. fastify-cli and @fastify/autoload give each file a scope of its own: wrap the file that registers the gate and the application file (app.js) that loads it.',
  FMOD_PUBLIC_ROUTES_GATE_BYPASSED:
    'A request for a path that does not exist was answered with status %s before it reached the gate. These onRequest hooks run earlier: %s. Register the gate before the plugin that answers.',
  FMOD_PUBLIC_ROUTES_INVALID_RULE: 'The public-route rule %s cannot be used: %s.',
  FMOD_PUBLIC_ROUTES_NOT_READY:
    'The %s cannot be explained before the application is ready: neither its routes nor its rules are complete. Call await app.ready() first.',
  FMOD_PUBLIC_ROUTES_INVALID_ENV:
    'The environment variable %s must be a JSON array of path prefixes such as ["/status"]: %s. Correct it, or unset it.',
  FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC:
    'The login URL %s is not public for GET, so signing in would redirect to itself for ever. Give its route config { access: "public" }, or add a rule for it.',
  FMOD_PUBLIC_ROUTES_INVALID_ACCESS: 'The access of %s cannot be used: %s.',
  FMOD_PUBLIC_ROUTES_INVALID_PERMISSION:
    'The permission "%s" cannot be declared by %s: %s. Declare each permission once, while plugins register.',
  FMOD_PUBLIC_ROUTES_UNKNOWN_PERMISSION:
    'Permissions are required that nothing declares, so that no role could offer them: %s. Correct the names, or declare them in "permissions" of a module or of the public-routes plugin.',
  FMOD_PUBLIC_ROUTES_CONFIG_CHANGED:
    'An onRoute hook changed or replaced the configuration of these routes after the gate had read who may call them: %s. Add that hook before the gate is registered, or let it keep config.access, config.checkedByHandler and all other members of the configuration.',
  FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT:
    'These entries of the option access have no effect: %s. Correct or remove the entry, or remove what stands against it.',
  FMOD_PUBLIC_ROUTES_BEFORE_GATE:
    'These routes were registered before the gate, which reads who may call a route when it is registered: %s. Put "await app.register(publicRoutes, …)" before them, or move them into a plugin that is registered after it; with @fastify/autoload, name the plugin of the gate in the "dependencies" of fastify-plugin.',
  FMOD_PUBLIC_ROUTES_HALF_REGISTERED:
    'The registration of these routes failed half-way: the router has them, and runs no hook before them, not even the gate: %s. Let the error of the registration stop the boot.',
  FMOD_PUBLIC_ROUTES_UNDECLARED:
    'Nothing declares who may call these routes:\n%s\nGive each route config { access }, give its module an access, or name it in the option access.',
  FMOD_PUBLIC_ROUTES_SNAPSHOT_IN_CI:
    'expectAccess does not write %s where the environment variable CI is set: the application would be compared with itself, and every change would pass. Write the file on a machine of a developer, review and commit it, and unset UPDATE_SNAPSHOTS here.',
  FMOD_PUBLIC_ROUTES_ACCESS_CHANGED:
    'The access of the application is not what %s says:\n%s\nReview the differences; if they are wanted, write the file again with UPDATE_SNAPSHOTS=1.',
})
