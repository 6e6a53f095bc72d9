/** The client of the mail server: made of the mail settings, and tested before they are saved. */
import { ProbeFailure, type ResourceOptions } from '@fastify-modular/settings'
import { createTransport, type Transporter } from 'nodemailer'

/** Where mail goes out, and who signs in there. */
interface SmtpValues {
  readonly host: string
  readonly port: number
  readonly user: string | null
  readonly password: string | null
}

/** Milliseconds, below the ten seconds of a test. */
const patience = 5000

/** Connects when mail is sent, or tested. */
export const smtp: ResourceOptions<SmtpValues, Transporter> = {
  create: ({ host, port, user, password }) =>
    createTransport({
      host,
      port,
      secure: port === 465,
      ...(user !== null && { auth: { user, pass: password ?? '' } }),
      connectionTimeout: patience,
      greetingTimeout: patience,
      socketTimeout: patience,
    }),
  dispose: (transport) => transport.close(),
  async probe(transport) {
    try {
      await transport.verify()
    } catch (error) {
      throw toProbeFailure(error)
    }
    return 'The mail server answers.'
  },
}

/** By the code: what the client says names hosts and quotes the server. */
function toProbeFailure(error: unknown): unknown {
  switch (Object(error).code) {
    case 'EAUTH':
      return new ProbeFailure('The mail server refused the sign-in.')
    case 'EDNS':
    case 'ECONNECTION':
    case 'ESOCKET':
    case 'ETIMEDOUT':
      return new ProbeFailure('The mail server did not answer.')
    case 'ETLS':
      return new ProbeFailure('The mail server offers no encrypted connection that can be trusted.')
    default:
      return error
  }
}
