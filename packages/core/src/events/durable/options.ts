/** What every durable transport can be told. */
import { option } from '../../internal/options.ts'

export interface DurableOptions {
  /**
   * Attempts before an event becomes a dead letter.
   * @default 8
   */
  readonly maxAttempts?: number
  /**
   * Delay before the second attempt, in milliseconds; it doubles with each further one, with jitter, up to an hour.
   * @default 1000
   */
  readonly retryDelay?: number
  /**
   * How long one attempt may take, in milliseconds; then its signal fires and it counts as failed.
   * @default 60000
   */
  readonly attemptTimeout?: number
  /**
   * How many deliveries of one handler run at once in this process.
   * @default 10
   */
  readonly concurrency?: number
  /**
   * How long running handlers get when the application closes, in milliseconds.
   * @default 5000
   */
  readonly closeTimeout?: number
}

/** Their schemas, with those of the two intervals that both transports of ours have. */
export const durableOptions = {
  maxAttempts: option.positive(),
  retryDelay: option.milliseconds(0),
  attemptTimeout: option.milliseconds(),
  concurrency: option.positive(),
  lease: option.milliseconds(),
  pollInterval: option.milliseconds(),
  closeTimeout: option.milliseconds(0),
}
