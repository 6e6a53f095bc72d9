// A page whose parts a flag shows and hides.
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider'
import { OpenFeature, OpenFeatureProvider, useBooleanFlagValue } from '@openfeature/react-sdk'
import { createRoot } from 'react-dom/client'

const { id, person, name, color } = await (await fetch('/organisation')).json()
OpenFeature.setProvider(
  // Nothing is kept in the browser: by its key, what one reads in Acme would be shown in Bolt first.
  new OFREPWebProvider({ baseUrl: location.origin, pollInterval: 1000, cacheMode: 'disabled' }),
  { targetingKey: person, tenant: id },
)

function Invoices() {
  const hasReminders = useBooleanFlagValue('invoicing.reminders', false)
  return (
    <main style={{ borderTop: `4px solid ${color}` }}>
      <h1>Invoices of {name}</h1>
      {hasReminders && <button type="button">Send reminders</button>}
    </main>
  )
}

createRoot(document.body).render(
  <OpenFeatureProvider>
    <Invoices />
  </OpenFeatureProvider>,
)
