// Imports what the command line names, one after the other, and tells the CPU time of each, in milliseconds.
const cpu = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
const spent = []
for (const name of process.argv.slice(2)) {
  const before = cpu()
  await import(name)
  spent.push(cpu() - before)
}
process.send(spent)
process.disconnect()
