/** The value that a definition's environment variable fixes, in the variable or in the file that `<name>_FILE` names. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { JsonValue } from '../setting-definition.ts'
import { decodeDefault, deepFreeze } from '../values/json.ts'
import { notFitting } from '../values/standard-schema.ts'
import { parseValue, type RegisteredSetting } from '../values/validate.ts'

/** Without a value the variable is not set, or has problems: they name the variable and never what it holds. */
interface VariableValue {
  readonly value?: JsonValue
  readonly problems: readonly string[]
}

/** Reads the variable of a setting. */
export function readVariable(setting: RegisteredSetting): VariableValue {
  const { env, type } = setting.definition
  if (env === null) return { problems: [] }
  const { [env]: variable = '', [`${env}_FILE`]: path = '' } = process.env
  if (variable !== '' && path !== '') return { problems: [`${env} and ${env}_FILE are both set: unset one`] }
  const name = path === '' ? env : `${env}_FILE`
  try {
    const text = path === '' ? variable : readText(path)
    if (text === '') return { problems: path === '' ? [] : [`${name}: The file is empty.`] }
    const { value, errors } = parse(setting, decodeDefault(type, text))
    if (errors.length > 0) return { problems: [`${name}: ${errors.join(' ')}`] }
    return { value: deepFreeze(value), problems: [] } // which is not too deep
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { problems: [`${name}: ${error.message}`] }
  }
}

/** A schema names members of the value; a rule of the developer's own may quote the value, or throw it. */
function parse(setting: RegisteredSetting, given: JsonValue): ReturnType<typeof parseValue> {
  if (given === null) return { value: given, errors: ['null cannot be locked.'] }
  try {
    const byType = parseValue({ ...setting, parseSchema: null, validate: null }, given)
    if (byType.errors.length > 0) return byType
    const parsed = parseValue(setting, given)
    return parsed.errors.length > 0 ? { ...parsed, errors: [notFitting] } : parsed
  } catch {
    return { value: given, errors: ['Its rule or schema failed.'] }
  }
}

const maxBytes = 64 * 1024

/** The text of a file without its last line break. @throws {SyntaxError} saying what is wrong, without content */
function readText(path: string): string {
  const bytes = readStart(path)
  if (bytes.length > maxBytes) throw new SyntaxError(`The file is longer than ${maxBytes} bytes.`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '')
  } catch {
    throw new SyntaxError('The file is not UTF-8.')
  }
}

/** One byte more than a file may have: a file of the kernel may have no end. */
function readStart(path: string): Buffer {
  const bytes = Buffer.alloc(maxBytes + 1)
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) // else a pipe opens when something writes to it
    if (!fstatSync(file).isFile()) throw new SyntaxError('It is not a file.')
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null)
    return bytes.subarray(0, length)
  } catch (error) {
    throw error instanceof SyntaxError ? error : new SyntaxError('The file cannot be read.')
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
