/** The paths that every application of the framework opens unless it says `defaults: false` (S 5.3.1, decision 32). */
import type { PublicRouteRegistry } from './registry.ts'

/** The source of these rules. */
export const frameworkDefault = 'framework default'

/** Segment-bounded where the path names one thing, so that `/healthcare` is not public because `/health` is. */
export function addFrameworkDefaults(registry: PublicRouteRegistry): void {
  registry
    .addExact('/')
    .addSubtree('/health')
    .addSubtree('/api/docs')
    .addSubtree('/api/redoc')
    .addSubtree('/openapi.json')
    .addPrefix('/static/')
    .addPrefix('/i18n/')
}
