/** The types of `styles.css`: importing a style sheet gives nothing, and compilers want to know that. */
// oxlint-disable-next-line unicorn/require-module-specifiers -- a module without exports
export {}
