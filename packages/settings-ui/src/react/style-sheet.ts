/** The types of `styles.css`: importing a style sheet gives nothing, and compilers want to know that. */
export {}
