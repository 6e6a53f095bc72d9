// Serves the application with all plugins.
import { serve } from '../support/serve.mjs'
import { createApp } from './everything.mjs'

await serve(await createApp())
