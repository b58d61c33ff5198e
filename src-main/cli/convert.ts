import { Option, type Command } from 'commander'
import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { messageOf, UserError } from '@shared/errors'
import { demangle } from '@shared/profile/demangle'
import type { OpenedProfile } from '@shared/profile/openProfile'
import { withRootZeros } from '@shared/profile/rootZeros'
import { chromeTracePieces } from '@shared/profile/writeChromeTrace'
import { csvLines } from '@shared/profile/writeCsv'
import { foldedLines } from '@shared/profile/writeFolded'
import { hatchetPieces } from '@shared/profile/writeHatchet'
import { jsonPieces } from '@shared/profile/writeJson'
import { speedscopePieces } from '@shared/profile/writeSpeedscope'
import { openProfileFile, printWarnings } from './profileFiles'

const formats = ['hatchet', 'folded', 'csv', 'json', 'chrome_trace', 'speedscope'] as const
type OutputFormat = (typeof formats)[number]

/** Longest first: 'x.speedscope.json' is not plain JSON. */
const extensions: [string, OutputFormat][] = [
  ['.speedscope.json', 'speedscope'],
  ['.trace.json', 'chrome_trace'],
  ['.chrome_trace', 'chrome_trace'],
  ['.hatchet', 'hatchet'],
  ['.folded', 'folded'],
  ['.csv', 'csv'],
  ['.json', 'json']
]

interface ConvertFlags {
  to?: OutputFormat
  rootHints?: boolean
  demangle?: boolean
  json?: boolean
}

export function register(program: Command): void {
  program
    .command('convert')
    .description(
      'Writes a profile in another format, taken from the extension of OUT or from --to.'
    )
    .argument('<in>', 'profile to read')
    .argument('<out>', 'file to write; - for standard output')
    .addOption(new Option('--to <format>', 'format to write').choices(formats))
    .option(
      '--root-hints',
      'hatchet: name every summed metric on ROOT, so that proton-viewer rolls it up'
    )
    .option('--demangle', 'C++ names demangled; .hatchet keeps them as they are')
    .option('--json', 'print what was written as JSON')
    .action(convert)
}

function convert(input: string, output: string, flags: ConvertFlags): void {
  const format = flags.to ?? formatOf(output)
  const profile = openProfileFile(input)
  printWarnings(profile.tree)
  const bytes = write(output, piecesOf(profile, format, basename(input), flags))
  if (output === '-') return
  const { count } = profile.tree
  process.stdout.write(
    flags.json
      ? `${JSON.stringify({ in: input, out: output, format, nodes: count, bytes }, null, 2)}\n`
      : `${output}: ${format}, ${count} nodes, ${bytes} bytes\n`
  )
}

function formatOf(output: string): OutputFormat {
  const found = extensions.find(([extension]) => output.endsWith(extension))
  if (found) return found[1]
  throw new UserError(
    'usage',
    `The name '${output}' does not say which format to write: use --to ${formats.join(', ')}.`
  )
}

function piecesOf(
  { tree, timeline }: OpenedProfile,
  format: OutputFormat,
  name: string,
  flags: ConvertFlags
): Iterable<string> {
  const nameOf = flags.demangle ? demangle : (text: string) => text
  switch (format) {
    case 'hatchet':
      return hatchetPieces(flags.rootHints ? withRootZeros(tree) : tree)
    case 'folded':
      return foldedLines(tree, nameOf)
    case 'csv':
      return csvLines(tree, nameOf)
    case 'json':
      return jsonPieces(tree, nameOf)
    case 'chrome_trace':
      return chromeTracePieces(tree, timeline, nameOf)
    case 'speedscope':
      return speedscopePieces(tree, name, nameOf)
  }
}

/** Writes beside the file and moves it into place: a failure leaves what was there. Returns the bytes written. */
function write(output: string, pieces: Iterable<string>): number {
  if (output === '-') {
    for (const batch of batches(pieces)) process.stdout.write(batch)
    return 0
  }
  const unfinished = `${output}.part`
  let bytes = 0
  let file: number | undefined
  try {
    file = openSync(unfinished, 'w')
    for (const batch of batches(pieces)) {
      writeFileSync(file, batch)
      bytes += Buffer.byteLength(batch)
    }
    closeSync(file)
    renameSync(unfinished, output)
  } catch (error) {
    if (file !== undefined) rmSync(unfinished, { force: true })
    if (error instanceof UserError) throw error
    throw new UserError('usage', `${output} cannot be written: ${messageOf(error)}.`, {
      cause: error
    })
  }
  return bytes
}

function* batches(pieces: Iterable<string>): Generator<string> {
  let batch = ''
  for (const piece of pieces) {
    batch += piece
    if (batch.length < 1 << 18) continue
    yield batch
    batch = ''
  }
  yield batch
}
