// Serves an application in a process of its own, and tells the process that forked it what it spent.

/** Listens on 127.0.0.1 and sends the port; answers every message with the CPU time so far, in µs. */
export async function serve(app) {
  await app.listen({ host: '127.0.0.1', port: 0 })
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send(user + system)
  })
  process.on('disconnect', () => process.exit())
  process.send({ port: app.server.address().port })
}
