import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { UserError } from '@shared/errors'
import { OutputFile } from '../ground/files'
import { readError } from '../ground/named'

const tokenPattern = /^[\w-]{32,128}$/

/** 32 random bytes as base64url. */
export const createToken = (): string => randomBytes(32).toString('base64url')

/** Compares in a time that does not depend on where the two differ. */
export function isToken(token: string, candidate: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(token), digest(candidate))
}

/** The token a file keeps from start to start; written, for its owner only, when the file is not there yet. */
export function tokenFromFile(path: string): string {
  try {
    if (!existsSync(path)) {
      const token = createToken()
      const file = new OutputFile(path, {})
      file.write(`${token}\n`)
      file.commit()
      return token
    }
    if (!statSync(path).isFile()) throw new UserError('usage', `${path} is no file; name one.`)
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
      throw new UserError(
        'usage',
        `${path} can be read by others; make it yours alone: chmod 600 ${path}`
      )
    const token = readFileSync(path, 'utf8').trim()
    if (tokenPattern.test(token)) return token
    throw new UserError(
      'usage',
      `${path} holds no token: 32 to 128 letters, digits, - or _ are expected. Delete it to have one made.`
    )
  } catch (error) {
    throw readError(`The token file ${path}`, error)
  }
}
