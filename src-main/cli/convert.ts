import { Option, type Command } from 'commander'
import { basename } from 'node:path'
import { UserError } from '@shared/errors'
import { demangle } from '@shared/profile/ask/demangle'
import { shortName } from '@shared/profile/ask/shortName'
import type { OpenedProfile } from '@shared/profile/read/openProfile'
import { traceOfRun } from '@shared/profile/write/runTrace'
import { withRootZeros } from '@shared/profile/write/rootZeros'
import { chromeTracePieces } from '@shared/profile/write/writeChromeTrace'
import { csvLines } from '@shared/profile/write/writeCsv'
import { foldedLines } from '@shared/profile/write/writeFolded'
import { hatchetPieces } from '@shared/profile/write/writeHatchet'
import { hatchetMsgpackPieces } from '@shared/profile/write/writeHatchetMsgpack'
import { jsonPieces } from '@shared/profile/write/writeJson'
import { speedscopePieces } from '@shared/profile/write/writeSpeedscope'
import { checkOutput, writeOutput } from '../ground/files'
import { print, printJson, writeData } from '../ground/terminal'
import { openTogether, printWarnings } from './profileFiles'

export const formats = [
  'hatchet',
  'hatchet_msgpack',
  'folded',
  'csv',
  'json',
  'chrome_trace',
  'speedscope'
] as const
type OutputFormat = (typeof formats)[number]

/** Longest first: 'x.speedscope.json' is not plain JSON. */
const extensions: [string, OutputFormat][] = [
  ['.speedscope.json', 'speedscope'],
  ['.trace.json', 'chrome_trace'],
  ['.chrome_trace', 'chrome_trace'],
  ['.hatchet_msgpack', 'hatchet_msgpack'],
  ['.hatchet', 'hatchet'],
  ['.folded', 'folded'],
  ['.csv', 'csv'],
  ['.json', 'json']
]

interface ConvertFlags {
  to?: OutputFormat
  rootHints?: boolean
  demangle?: boolean
  short?: boolean
  force?: boolean
  json?: boolean
}

export function register(program: Command): void {
  program
    .command('convert')
    .description(
      'Writes a profile in another format, taken from the extension of OUT or from --to.'
    )
    .argument(
      '<files...>',
      'profile to read, the parts or ranks of one, or a run: its folder, its id or "latest"; last the file to write, - for standard output'
    )
    .addOption(new Option('--to <format>', 'format to write').choices(formats))
    .option(
      '--root-hints',
      'hatchet: name every summed metric on ROOT, so that proton-viewer rolls it up'
    )
    .option('--demangle', 'C++ names demangled; .hatchet keeps them as they are')
    .option('--short', 'names as the app shortens them; not in .hatchet')
    .option('--force', 'replace OUT if it is there')
    .option('--json', 'print what was written as JSON')
    .action(convert)
}

async function convert(files: string[], flags: ConvertFlags): Promise<void> {
  const [inputs, output] = [files.slice(0, -1), files[files.length - 1]!]
  if (inputs.length === 0)
    throw new UserError(
      'usage',
      'convert needs what to read and the file to write: convert IN OUT.'
    )
  const format = flags.to ?? formatOf(output)
  if (output !== '-') checkOutput(output, flags)
  else if (flags.json || flags.force)
    throw new UserError('usage', '--json and --force are of a file; OUT is standard output.')
  const isOfProton = format === 'hatchet' || format === 'hatchet_msgpack'
  if (flags.rootHints && !isOfProton)
    throw new UserError('usage', `--root-hints is of hatchet; ${format} has no such thing.`)
  if ((flags.demangle || flags.short) && isOfProton)
    throw new UserError(
      'usage',
      `${flags.demangle ? '--demangle' : '--short'} leaves hatchet as it is: readers demangle and shorten its names.`
    )
  const profile = await openTogether(inputs, { timeline: format === 'chrome_trace' })
  printWarnings(profile.tree)
  const pieces = batches(piecesOf(profile, format, basename(inputs[0]!), flags))
  if (output === '-') {
    for (const piece of pieces) writeData(piece)
    return
  }
  const bytes = await writeOutput(output, pieces, flags)
  const { count } = profile.tree
  if (flags.json)
    printJson({
      in: inputs.length === 1 ? inputs[0] : inputs,
      out: output,
      format,
      nodes: count,
      bytes
    })
  else print(`${output}: ${format}, ${count} nodes, ${bytes} bytes`)
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
  { tree, timeline, run }: OpenedProfile,
  format: OutputFormat,
  name: string,
  flags: ConvertFlags
): Iterable<string | Uint8Array> {
  const nameOf = flags.short ? shortName : flags.demangle ? demangle : (text: string) => text
  const rooted = flags.rootHints ? withRootZeros(tree) : tree
  switch (format) {
    case 'hatchet':
      return hatchetPieces(rooted)
    case 'hatchet_msgpack':
      return hatchetMsgpackPieces(rooted)
    case 'folded':
      return foldedLines(tree, nameOf)
    case 'csv':
      return csvLines(tree, nameOf)
    case 'json':
      return jsonPieces(tree, nameOf)
    case 'chrome_trace':
      return run ? [traceOfRun(run, tree)] : chromeTracePieces(tree, timeline, nameOf)
    case 'speedscope':
      return speedscopePieces(tree, name, nameOf)
  }
}

/** Short texts are put together; bytes come in pieces already. */
function* batches(pieces: Iterable<string | Uint8Array>): Generator<string | Uint8Array> {
  let batch = ''
  for (const piece of pieces) {
    if (typeof piece !== 'string') {
      yield piece
      continue
    }
    batch += piece
    if (batch.length < 1 << 18) continue
    yield batch
    batch = ''
  }
  if (batch !== '') yield batch
}
