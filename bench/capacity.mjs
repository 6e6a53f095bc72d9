// What 1, 10 and 100 instances ask of one PostgreSQL: prints the table of docs/guides/scaling.md, computed from counts that the
// other scripts measure and from the time-outs and intervals of the packages. Measures nothing itself: node bench/capacity.mjs
const users = 10_000_000

/** Counts and defaults; change them to compute your own table. */
const inputs = {
  /** A user changes so many preferences a day; the busiest hour has three times the mean. */
  preferencesPerDay: 1,
  peak: 3,
  /** Writes of System and Application values by administrators, a second. */
  sharedWrites: 1 / 60,
  /** Notices of users' changes an instance sends at most, a second: one for each `announceWindow` of 20 ms. */
  noticesPerSecond: 1000 / 20,
  /** Transactions of a shared write: 1 + 1 an instance (bench/scale.mjs, "transactions of a lone write"). */
  sharedTransactions: (instances) => 1 + instances,
  /** Seconds: `pollInterval` and `timeouts.probe` of settings, `pollInterval` and `timeouts.probe` of pgBoss. */
  poll: 30,
  probe: 10,
  beat: 4,
  eventProbe: 30,
  /** Connections with `{ connectionString }`: settings makes a pool of ten and listens on one beside it; pgBoss makes a pool of five. */
  settingsPool: 10,
  listening: 1,
  eventsPool: 5,
  /** Idle connections of an instance after a while: both listeners; the others end after ten seconds. */
  idle: 2,
  /** `maxCachedUsers`, and MB for 100,000 values (bench/settings-reads.mjs, P12), ten values a user. */
  cachedUsers: 10_000,
  valuesPerUser: 10,
  megabytesPerValue: 22.2 / 100_000,
}

const writes = (users * inputs.preferencesPerDay * inputs.peak) / 86_400

export function capacityOf(instances) {
  const notices = instances * Math.min(writes / instances, inputs.noticesPerSecond)
  const shared = inputs.sharedWrites * inputs.sharedTransactions(instances)
  const idle = instances * (2 / inputs.poll + 1 / inputs.probe + 1 / inputs.beat + 1 / inputs.eventProbe)
  return {
    'connections, all busy': instances * (inputs.settingsPool + inputs.listening + inputs.eventsPool),
    'connections, idle': instances * inputs.idle,
    'transactions/s, idle': round(idle),
    'users’ writes/s at the peak': round(writes),
    'their transactions/s': round(writes + notices),
    'notices an instance receives a second': round(notices),
    'transactions/s of shared writes': round(shared),
    'MB of cached users an instance': round(
      inputs.cachedUsers * inputs.valuesPerUser * inputs.megabytesPerValue,
    ),
    'share of users in the cache of one instance': `${(inputs.cachedUsers / users) * 100} %`,
    'staleness on other instances, notified': 'milliseconds',
    'staleness on other instances, notice lost': `${inputs.poll} s`,
  }
}

export function capacityTable(sizes = [1, 10, 100]) {
  const columns = sizes.map(capacityOf)
  const rows = Object.keys(columns[0]).map((name) => [name, ...columns.map((column) => column[name])])
  const lines = [['instances', ...sizes], sizes.map(() => '---').concat('---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function round(value) {
  return value < 10 ? Math.round(value * 10) / 10 : Math.round(value)
}

if (process.argv[1] === import.meta.filename) console.log(capacityTable())
