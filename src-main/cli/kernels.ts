import { Option, type Command } from 'commander'
import type { MachineCode } from '@shared/contract/machineCode'
import { columnLines } from '@shared/columns'
import { outputTypes } from '@shared/contract/jobs'
import { resourceText } from '@shared/machineCode/resourceText'
import { machineCodeOf } from '../engine/machineCode/machineCode'
import { print, printJson, printNote } from '../ground/terminal'
import { formatListText } from './formatList'
import { registerExplain } from './kernelsExplain'
import { kernelFoldersOf, kernelSourcesOf } from './localApplication'

interface Flags {
  kernelDir?: string[]
  json?: boolean
}

interface ShowFlags extends Flags {
  arch: string
  format: string
  cType: string
  sass?: boolean
  search?: string
}

export function register(program: Command): void {
  const kernels = program
    .command('kernels')
    .description(
      'Kernels that come as source: list, show what the compiler made of one, explain what auto chooses.'
    )
  const command = (name: string, description: string) =>
    kernels
      .command(name)
      .description(description)
      .option('--kernel-dir <folder...>', 'folder with your own kernels and their manifest.json')
      .option('--json', 'print as JSON')
  command('list', 'every kernel with its targets and formats').action(list)
  command('show <id>', 'registers, spills, counts of instructions and warnings; compiled here')
    .option('--arch <target>', 'sm_90a, gfx950, ... (default: the first that the kernel names)', '')
    .option('--format <name>', 'block-scaled format (default: its first)', '')
    .addOption(new Option('--c-type <type>', 'type of C').choices(outputTypes).default('f16'))
    .option('--sass', 'also the machine code, each instruction with its source line')
    .option('--search <text>', 'of the machine code only the lines with this text')
    .addHelpText(
      'after',
      '\nCompiles with nvcc and reads the machine code with nvdisasm: of the PATH, a CUDA toolkit or a Python’s triton.' +
        '\nKernels for AMD GPUs: a clang 20 or later, of ROCm or the PATH, alone.' +
        '\nExit code 3: there is no such compiler.'
    )
    .action(show)
  registerExplain(kernels)
}

function list(flags: Flags): void {
  const rows = kernelSourcesOf(flags.kernelDir).map(
    ({ id, provider, architectures, formats, summary }) => ({
      id,
      provider,
      architectures,
      formats: formats.filter(({ level }) => level !== 'unavailable').map(({ format }) => format),
      summary
    })
  )
  if (flags.json) return printJson(rows)
  const cells = rows.map(({ id, architectures, formats }) => [
    id,
    architectures.join(', '),
    formatListText(formats) || 'support'
  ])
  print(columnLines(cells, () => true))
}

async function show(id: string, flags: ShowFlags): Promise<void> {
  const found = await machineCodeOf(kernelFoldersOf(flags.kernelDir), {
    kernel: id,
    architecture: flags.arch,
    format: flags.format,
    output: flags.cType
  })
  if (flags.json) return printJson(found)
  print(
    `${found.kernel} for ${found.target}, ${found.format}, ${found.output} out; ${found.compiler}`
  )
  print(found.resources.map((one) => `${one.name}: ${resourceText(one)}`))
  for (const { name, counts, instructions } of found.functions)
    print(
      `${name}: ${instructions.length} instructions; ${counts.map((one) => `${one.name} ${one.count}`).join(', ')}`
    )
  print(found.warnings.length > 0 ? found.warnings.map(warningLine) : ['No warning.'])
  if (found.withoutCode) printNote(found.withoutCode)
  if (flags.sass || flags.search !== undefined) print(['', ...sassLines(found, flags.search ?? '')])
}

const warningLine = ({ text, file, line }: MachineCode['warnings'][number]): string =>
  `warning: ${text}${file ? ` (${file}:${line})` : ''}`

/** Each source line once, above the instructions that were made of it. */
function sassLines({ functions, sources }: MachineCode, search: string): string[] {
  const lines = new Map(sources.map(({ path, text }) => [path, text.split('\n')]))
  const wanted = search.toLowerCase()
  return functions.flatMap(({ name, instructions }) => {
    let before = ''
    return [
      `${name}:`,
      ...instructions.flatMap(({ offset, text, file, line }) => {
        if (!text.toLowerCase().includes(wanted)) return []
        const at = file === undefined ? '' : `${file}:${line}`
        const source =
          at && at !== before ? [`  ${at}  ${lines.get(file!)?.[line! - 1]?.trim() ?? ''}`] : []
        before = at || before
        return [...source, `    ${offset.toString(16).padStart(5, '0')}  ${text}`]
      })
    ]
  })
}
