/** The variables of definitions as the text of an `.env.example`. */
import { printEnvironment, setting, SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'

const { Application } = SettingScope

test('printEnvironment is an .env.example that sets nothing and tells no secret', async (t) => {
  process.env['T_SMTP_HOST'] = 'current'
  t.teardown(() => delete process.env['T_SMTP_HOST'])
  const printed = printEnvironment({
    host: setting.text('mail.host', {
      displayName: 'Host',
      scope: Application,
      env: 'T_SMTP_HOST',
      default: 'localhost',
    }),
    hostile: setting.multilineText('app.hostile', {
      displayName: 'Hostile',
      description: 'One\nT_A=1\r\nT_B=2\u2028T_C=3\rT_D=4',
      scope: Application,
      env: 'T_HOSTILE',
      default: 'x\nT_E=5',
    }),
    secret: setting.text('app.secret', {
      displayName: 'Secret',
      scope: Application,
      sensitive: true,
      env: 'T_SECRET',
    }),
    other: setting.text('app.other', { displayName: 'Other', scope: Application }),
  })
  t.equal(
    printed,
    `# Host
# Default: localhost
T_SMTP_HOST=

# Hostile
# One
# T_A=1
# T_B=2
# T_C=3
# T_D=4
# Default: x
# T_E=5
T_HOSTILE=

# Secret
T_SECRET=
`,
  )
})
