/** The API to browse, within the frame of this application. What it says of itself is in English. */
import { type ReactNode, useEffect, useRef } from 'react'
import { Layout } from './layout.tsx'
import { Head } from './parts.tsx'
import { useTexts } from './shared.ts'

export function ApiPage(): ReactNode {
  const texts = useTexts()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    void import('./swagger-ui.ts').then(({ showApi }) => place.current && showApi(place.current))
  }, [])
  return (
    <Layout title={texts.api}>
      <main className="page" id="main" tabIndex={-1}>
        <Head title={texts.api} lead={texts.apiLead}>
          <a className="button" href="/openapi.json">
            openapi.json
          </a>
        </Head>
        <h2 className="unseen">{texts.operations}</h2>
        <div id="swagger-ui" lang="en" ref={place} />
        <noscript>{texts.needsScript}</noscript>
      </main>
    </Layout>
  )
}
