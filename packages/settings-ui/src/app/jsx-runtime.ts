/** What the compiler makes of JSX, on Preact: smaller than its own, which also serves string templates. */
import { type ComponentType, createElement, Fragment, type VNode } from 'preact'

export { Fragment }

export function jsx(type: ComponentType | string, props: object, key?: string): VNode {
  return createElement(type as ComponentType, key === undefined ? props : { ...props, key })
}

export { jsx as jsxs }
