// Talks with a process that was forked.

/** The next message of a child. Fails when the child ends instead, or says nothing for a minute. */
export function messageOf(child) {
  return new Promise((resolve, reject) => {
    const finish = (settle, value) => {
      clearTimeout(timer)
      child.off('message', heard).off('exit', ended)
      settle(value)
    }
    const heard = (message) => finish(resolve, message)
    const ended = (code) => finish(reject, new Error(`${child.spawnargs[1]} ended with code ${code}`))
    const timer = setTimeout(() => finish(reject, new Error(`${child.spawnargs[1]} says nothing`)), 60_000)
    child.on('message', heard).on('exit', ended)
  })
}

/** Sends a message, and returns the answer. */
export function ask(child, message) {
  const answer = messageOf(child)
  child.send(message)
  return answer
}
