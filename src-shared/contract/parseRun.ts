import * as v from 'valibot'
import { messageOf, UserError } from '../errors'
import { describeIssues } from '../schemaWords'
import { currentRunFormatVersion, runSchema, type Run } from './run'

/**
 * Reads the text of a run.json. Throws a UserError that names the file and what is wrong: not JSON, a newer version,
 * or the first field that does not fit.
 */
export function parseRun(text: string, path: string): Run {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new UserError('usage', `${path} is damaged: ${messageOf(error)}. It is left untouched.`)
  }
  const version = (json as { formatVersion?: unknown } | null)?.formatVersion
  if (typeof version === 'number' && version > currentRunFormatVersion) {
    throw new UserError(
      'usage',
      `${path} was written by a newer blockscope (run format ${version}; this one reads up to ` +
        `${currentRunFormatVersion}). Update blockscope to open it. It is left untouched.`
    )
  }
  const parsed = v.safeParse(runSchema, json)
  if (parsed.success) return parsed.output
  const words = describeIssues([parsed.issues[0]])
  throw new UserError('usage', `${path} is not a run: at ${words}. It is left untouched.`)
}
