import { test } from 'tap'
import { networkOf } from '#src/streams/network.js'

/** Addresses by the network that they belong to. */
const networks = {
  '2001:db8:0:1::': [
    '2001:db8:0:1::',
    '2001:db8:0:1::1',
    '2001:DB8:0:1:FFFF:FFFF:FFFF:FFFF',
    '2001:0db8:0000:0001:0000:0000:0000:0001',
    '2001:db8::1:0:0:0:9',
    '2001:db8:0:1::9%eth0',
  ],
  '2001:db8:0:0::': ['2001:db8::', '2001:db8::1', '2001:db8:0::8:7:6:5'],
  '1:0:0:2::': ['1::2:3:4:5:6', '1:0:0:2::'],
  '1:2:3:4::': ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:8', '1:2:3:4::1.2.3.4'],
  'fe80:0:0:0::': ['fe80::1', 'FE80::2%eth0', 'fe80::3%2'],
  '0:0:0:0::': ['::', '::1', '::10.0.0.1', '::ffff:0:10.0.0.1'],
  '10.0.0.1': [
    '10.0.0.1',
    '::ffff:10.0.0.1',
    '::FFFF:10.0.0.1',
    '::ffff:a00:1',
    '0:0:0:0:0:ffff:0a00:0001',
    '0000:0000:0000:0000:0000:FFFF:10.0.0.1',
    '::ffff:10.0.0.1%eth0',
  ],
  '255.255.0.10': ['255.255.0.10', '::ffff:ffff:a'],
}

for (const [network, addresses] of Object.entries(networks)) {
  test(`${addresses.join(', ')} count as ${network}`, async (t) => {
    for (const address of addresses) t.equal(networkOf(address), network)
  })
}

test('what is not an address counts as it is', async (t) => {
  for (const text of [
    '',
    'unknown',
    '10.0.0.1:80',
    '[::1]',
    '[::1]:80',
    '::ffff:10.0.0.256',
    '1::2::3',
    'fe80::1%',
  ])
    t.equal(networkOf(text), text)
})
