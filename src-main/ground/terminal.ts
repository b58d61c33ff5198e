/**
 * The one way to the terminal; lint keeps every other file from the streams. Names out of files end up here: whatever could
 * move the cursor, set a title, turn the writing direction or fake a line is shown as an escape.
 */
import { UserError } from '@shared/errors'
import { controls, plainLine } from '@shared/plainLine'

/** Text whose line breaks are its own. */
function plainText(text: string): string {
  return text.split('\n').map(plainLine).join('\n')
}

/** Each string is one line: a line break within it is shown, not obeyed. */
export function print(lines: string | Iterable<string>): void {
  if (typeof lines === 'string') return write('stdout', `${plainLine(lines)}\n`)
  // In batches: a million small writes would take longer than making the lines. As bytes that an empty pipe takes at once:
  // what it does not take, and text, waits in memory until all lines are made.
  let batch = ''
  for (const line of lines) {
    batch += `${plainLine(line)}\n`
    if (batch.length < 1 << 14) continue
    write('stdout', Buffer.from(batch))
    batch = ''
  }
  if (batch) write('stdout', Buffer.from(batch))
}

/** The same on stderr: warnings, errors, and what is being done. */
export function printNote(lines: string | Iterable<string>): void {
  clearProgress()
  for (const line of typeof lines === 'string' ? [lines] : lines)
    write('stderr', `${plainLine(line)}\n`)
}

/** A fault of this program, with its stack. */
export function printFault(where: string, error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  printNote(`${where}: ${text}`.split('\n'))
}

/** Text of this program's own, such as the help, with its line breaks. */
export function printText(text: string, stream: 'stdout' | 'stderr' = 'stdout'): void {
  write(stream, plainText(text))
}

/** A value as JSON, or JSON that is written already. Control characters stay escapes, so it reads back the same. */
export function printJson(value: unknown): void {
  const json = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const safe = json.replace(controls, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  )
  write('stdout', `${safe}\n`)
}

/** The contents of a file, as they are; on a screen, text without what a screen obeys. */
export function writeData(data: string | Uint8Array): void {
  if (!process.stdout.isTTY) return write('stdout', data)
  if (typeof data === 'string') return printText(data)
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(data)
  } catch {
    throw new UserError('usage', 'These are no characters for a terminal; name a file to write.')
  }
  printText(text)
}

let progressShown = false

/** Whether progress overwrites itself; elsewhere it is a line now and then. */
export const showsProgress = (): boolean => process.stderr.isTTY === true

/** What is being done, in the last line of the terminal. */
export function showProgress(text: string): void {
  if (!showsProgress()) return write('stderr', `${plainLine(text)}\n`)
  const width = (process.stderr.columns ?? 100) - 1
  write('stderr', `\r\x1b[K${plainLine(text).slice(0, width)}`)
  progressShown = true
}

export function clearProgress(): void {
  if (progressShown) write('stderr', '\r\x1b[K')
  progressShown = false
}

let outputFailed = false
let worksOn = false

/** While work is done whose results go elsewhere too, a reader that went away does not end it. */
export async function worksOnWithoutReader<T>(work: () => Promise<T>): Promise<T> {
  worksOn = true
  try {
    return await work()
  } finally {
    worksOn = false
  }
}

/** Whether something that should have been printed was lost, other than to a reader that went away. */
export const hasLostOutput = (): boolean => outputFailed

let outputGone = false

function write(stream: 'stdout' | 'stderr', data: string | Uint8Array): void {
  if (stream === 'stdout' && outputGone) return
  try {
    process[stream].write(data)
  } catch (error) {
    if (stream === 'stdout') loseOutput(error as NodeJS.ErrnoException)
  }
}

/** What becomes of a stream that cannot be written: one sentence and an exit code, never a stack. */
export function watchStreams(): void {
  process.stdout.on('error', loseOutput)
  // Nobody is left to be told.
  process.stderr.on('error', () => {})
}

/** A reader that went away (blockscope view ... | head) is no error. */
function loseOutput(error: NodeJS.ErrnoException): void {
  if (outputGone) return
  outputGone = true
  if (error.code !== 'EPIPE') {
    outputFailed = true
    const why = error.code === 'ENOSPC' ? 'the disk is full' : error.message
    printNote(`blockscope: standard output cannot be written: ${why}.`)
  }
  if (!worksOn) process.exit(outputFailed ? 1 : 0)
}
