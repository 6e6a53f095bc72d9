/** The search, its filters, and what belongs to the whole page. */
import { type ReactNode, useState } from 'react'
import { Icon } from '../icons.tsx'
import { MenuButton, MenuItem } from '../menu.tsx'
import { failureText } from '../model/failure-text.ts'
import { plural } from '../../texts/messages.ts'
import { toFailure } from '../model/source.ts'
import { usePage } from '../page-context.ts'
import { Chips, FilterMenu } from './filters.tsx'
import { SearchField } from './search-field.tsx'
import type { SearchProps } from './use-results.ts'

interface SearchBarProps extends SearchProps {
  readonly areKeysShown: boolean
  readonly onShowKeys: (areShown: boolean) => void
  /** In front of the search on narrow pages: what opens the list of groups. */
  readonly children: ReactNode
}

/** Settings from which on there is something to search and to filter. */
const enough = 8

export function SearchBar(props: SearchBarProps): ReactNode {
  const { state, results, changeUrl, children } = props
  const { editor, messages, canUpdate } = usePage()
  const [isOpen, setOpen] = useState(state.text !== '')
  // A search that a link has opened stays when it is emptied: the focus is in it.
  const [isAsked, setAsked] = useState(results.isSearch)
  if (results.isSearch && !isAsked) setAsked(true)
  const isMany = results.definitions.length >= enough || isAsked
  if (results.definitions.length === 0 || (editor.isOwn && !isMany)) return null
  const isEmpty = state.text === '' && state.only.length === 0
  return (
    <div
      className={isOpen ? 'fm-tools is-open' : 'fm-tools'}
      // On narrow pages the search takes the place of the groups: they are back when it is left empty.
      onBlur={({ target, currentTarget, relatedTarget }) => {
        const isInside = relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
        const isOpening = target instanceof Element && target.matches('.fm-open-search')
        if (isEmpty && !isInside && !isOpening) setOpen(false)
      }}
    >
      {children}
      {isMany && <SearchField {...props} isOpen={isOpen} onOpen={setOpen} />}
      {isMany && !editor.isOwn && (
        <MenuButton
          className="fm-button fm-filter"
          role="group"
          name={messages.filter}
          label={
            <>
              <Icon name="filter" />
              <span>{messages.filter}</span>
            </>
          }
        >
          {() => <FilterMenu {...props} />}
        </MenuButton>
      )}
      {!editor.isOwn && canUpdate && (
        <MenuButton
          className={isMany ? 'fm-button is-icon' : 'fm-button is-icon fm-push'}
          name={messages.more}
          label={<Icon name="more" />}
        >
          {(close) => <TransferMenu onClose={close} />}
        </MenuButton>
      )}
      <Chips state={state} changeUrl={changeUrl} />
    </div>
  )
}

/** Export to a file, and the import. */
function TransferMenu({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { api, editor, messages, locale, open } = usePage()

  async function download(): Promise<void> {
    try {
      const content = await api.exportSettings()
      const url = URL.createObjectURL(new Blob([`${JSON.stringify(content, null, 2)}\n`]))
      const link = Object.assign(document.createElement('a'), { href: url, download: 'settings.json' })
      link.click()
      URL.revokeObjectURL(url)
      editor.say({ kind: 'done', text: plural(messages.exportDone, content.settings.length, locale) })
    } catch (error) {
      editor.say({ kind: 'bad', text: failureText(toFailure(error), messages) })
    }
  }

  return (
    <>
      <MenuItem
        icon="down"
        onSelect={() => {
          onClose()
          void download()
        }}
      >
        {messages.export}
      </MenuItem>
      <MenuItem
        icon="up"
        onSelect={() => {
          onClose()
          open({ kind: 'import' })
        }}
      >
        {messages.import}
      </MenuItem>
    </>
  )
}
