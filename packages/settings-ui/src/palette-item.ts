/** What a host adds to `<fm-palette>`. */
export interface PaletteItem {
  readonly label: string
  /** A second, quieter line. */
  readonly detail?: string
  /** The name of an icon, one of those that groups may have. @default none */
  readonly icon?: string
  /** The heading below which it stands. @default none */
  readonly group?: string
  /** Where it leads; without it `run` is called. */
  readonly href?: string
  readonly run?: () => void
}
