/** What most visits of a page do without: a file of its own, loaded when it is first wanted. */
export { ActivityPage, HistoryDialog } from './changes/activity-page.tsx'
export { JsonControl } from './controls/json-form.tsx'
export { Diff } from './diff/diff.tsx'
export { ResetDialog, RevertDialog, ReviewDialog } from './dialogs/dialog.tsx'
export { download, ImportDialog } from './dialogs/import-dialog.tsx'
export { FirstSteps } from './first-steps.tsx'
export { readAgain } from './read-again.ts'
export { createStage } from '../stage.ts'
