/** Clients and instances are cut and killed while everything writes. `npm run prove:stream` is the long form. */
import t, { test } from 'tap'
import { sqlEngines } from '../../support/sql-engines.ts'
import { Model } from './model.js'

t.setTimeout(900_000)

for (const [name, open] of Object.entries(sqlEngines)) {
  test(`${name}: a hundred clients come to the last revision, whatever is cut, killed or restored, and none saw what it may not`, async (t) => {
    const model = await Model.start(await open(t), Math.random)
    t.teardown(() => model.stop())
    await model.progress(3)
    await model.save()
    model.cut(0.5)
    await model.progress(2)
    await model.end(0, 'SIGKILL')
    await model.progress(2)
    await model.boot(0)
    await model.disconnect()
    model.cut(0.5)
    await model.progress(2)
    await model.restore()
    model.cut(0.3)
    await model.progress(2)
    await model.end(1, 'SIGTERM')
    await model.boot(1)
    await model.progress(2)
    const { events, streams, snapshots } = await model.verify()
    t.ok(events > 1000)
    t.ok(streams > 150)
    t.ok(snapshots >= 200, 'the first, and that of the restored database')
  })
}
