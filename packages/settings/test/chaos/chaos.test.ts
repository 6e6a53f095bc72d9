/** Instances, their network and the server fail while everything writes. `npm run prove:chaos` is the long form. */
import t, { test } from 'tap'
import { Cluster } from './cluster.js'

t.setTimeout(900_000)

test('four instances, their network and the server fail: nothing acknowledged is lost, and all come to agree', async (t) => {
  const cluster = await Cluster.start(4)
  t.teardown(() => cluster.stop())
  await Promise.all([0, 1, 2, 3].map((index) => cluster.boot(index)))
  await cluster.progress(3)
  cluster.proxy(0).applyToOpen('reset')
  cluster.proxy(1).apply('no-notifications')
  await cluster.end(2, 'SIGKILL')
  await cluster.progress(3)
  await cluster.boot(2)
  await cluster.killServer()
  cluster.proxy(3).applyToOpen('silent')
  cluster.proxy(0).apply({ delay: 5 })
  await cluster.progress(3)
  await Promise.all([cluster.end(0, 'SIGKILL'), cluster.end(1, 'SIGKILL')])
  await cluster.progress(3)
  await cluster.boot(1)
  await cluster.progress(3)
  const { acknowledged, boots } = await cluster.verify()
  t.ok(acknowledged >= 100)
  t.equal(boots, 6)
})
