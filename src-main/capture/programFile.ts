/** What a command names, looked at before it is started: what the loader would refuse to inject into is said, not guessed. */
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { UserError } from '@shared/errors'

const elfMagic = 0x7f454c46
const interpreterSegment = 3

/** The file that a shell would start. @throws UserError where there is none */
export function findProgram(
  name: string,
  { folder = '.', path }: { folder?: string | undefined; path?: string | undefined } = {}
): string {
  const searched = path ?? process.env.PATH ?? '/usr/bin:/bin'
  const places = name.includes('/')
    ? [folder === '.' ? name : resolve(folder, name)]
    : searched.split(delimiter).map((one) => join(one || folder, name))
  const found = places.filter((place) => statSync(place, { throwIfNoEntry: false })?.isFile())
  const runnable = found.find(isExecutable)
  if (runnable !== undefined) return runnable
  const [first] = found
  throw new UserError(
    'usage',
    first === undefined
      ? `${name} is no program: there is no such file${name.includes('/') ? '' : ' on the path'}.`
      : `${first} cannot be started: it is not executable; chmod +x makes it so.`
  )
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Why the program itself will not be captured; its children may be. */
export function doubtsAbout(file: string): string[] {
  const { mode } = statSync(file)
  if ((mode & 0o6000) !== 0)
    return [
      `${file} is setuid or setgid: the system keeps injected libraries from it, so it is not captured.`
    ]
  if (isStatic(file))
    return [
      `${file} is linked statically: it loads no libraries, so it is not captured; programs that it starts are.`
    ]
  return []
}

/** A program without an interpreter is loaded by the kernel alone. */
function isStatic(file: string): boolean {
  let handle: number
  try {
    handle = openSync(file, 'r')
  } catch {
    // That it may be started does not say that it may be read.
    return false
  }
  try {
    const head = Buffer.alloc(64)
    if (readSync(handle, head, 0, 64, 0) < 64 || head.readUInt32BE(0) !== elfMagic) return false
    // 64 bits, little-endian: what CUDA runs on.
    if (head[4] !== 2 || head[5] !== 1) return false
    const size = head.readUInt16LE(54)
    const segments = Buffer.alloc(size * head.readUInt16LE(56))
    readSync(handle, segments, 0, segments.length, Number(head.readBigUInt64LE(32)))
    for (let at = 0; at + 4 <= segments.length; at += size)
      if (segments.readUInt32LE(at) === interpreterSegment) return false
    return true
  } finally {
    closeSync(handle)
  }
}
