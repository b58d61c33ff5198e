/** `provider new` writes a file of Python kernels to fill in; `provider check` says what is in one. */
import { Option, type Command } from 'commander'
import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { Feature, Kernel } from '@shared/contract/devices'
import { checkOutput, writeOutput } from '../ground/files'
import { print, printJson } from '../ground/terminal'
import { RecordedPaths } from '../jobs/recordedPaths'
import { addPythonKernels } from '../jobs/pythonFile'
import { connectInProcess } from '../transports/inProcess'
import { localApplication, providersFolder } from './localApplication'

/** Names of resources/providers/templates. */
const templates = ['triton', 'cutile', 'torch', 'numpy'] as const

interface NewFlags {
  from: (typeof templates)[number]
  force?: boolean
  json?: boolean
}

export function register(program: Command): void {
  const provider = program
    .command('provider')
    .description('Kernels of your own in Python: a file to fill in, and what is in one.')
  provider
    .command('new [file]')
    .description('Write a file of Python kernels to fill in (default: my_kernel.py).')
    .addOption(
      new Option('--from <kind>', 'what it is written in').choices(templates).makeOptionMandatory()
    )
    .option('--force', 'replace a file of that name')
    .option('--json', 'print its path as JSON')
    .action(write)
  provider
    .command('check <file>')
    .description('Load a file of Python kernels and say which kernels it has, and what each takes.')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExit code: 2 it is wrong, 3 what it needs is not here.')
    .action(check)
}

async function write(file: string | undefined, { from, json, ...how }: NewFlags): Promise<void> {
  const path = file ?? 'my_kernel.py'
  checkOutput(path, how)
  const template = await readFile(join(providersFolder, 'templates', `${from}.py`))
  await writeOutput(path, [template], how)
  if (json) return printJson({ file: resolve(path) })
  print(`${path} is written. It runs with: blockscope validate --provider ${path}`)
}

async function check(file: string, { json }: { json?: boolean }): Promise<void> {
  const application = localApplication({})
  const path = new RecordedPaths(providersFolder).providerAt(file)
  try {
    const found = await connectInProcess(application.handlers).call('devices.detect', {})
    const { devices, libraries } = await addPythonKernels(application.engine, path, found)
    const kernels = devices.flatMap(({ id: device, kernels }) =>
      kernels.filter(({ python }) => python?.file === path).map((kernel) => ({ device, ...kernel }))
    )
    if (json) return printJson(kernels)
    const { version } = libraries.find((library) => library.path === path)!
    print([`${basename(path)}: ${version}`, ...kernels.flatMap(describe)])
  } finally {
    await application.close()
  }
}

/** What of the operation it takes beside the plain product; types of C are said apart. */
function takenText(features: readonly Feature[]): string {
  const taken = features.filter(({ id, level }) => id !== 'f8-output' && level !== 'none')
  const words = taken.map(({ id, reason }) => (reason ? `${id} (${reason})` : id))
  return words.join(', ') || 'the plain product alone'
}

function describe({ device, ...kernel }: Kernel & { device: string }): string[] {
  const { id, summary, outputs, scaleLayout, python, capabilities, baseline } = kernel
  const able = capabilities.filter(({ level }) => level !== 'unavailable')
  const formats = able.map(({ format, level }) => `${format} (${level})`)
  const why = capabilities[0]!.reason
  return [
    `  ${id} on ${device}${baseline ? ' (baseline)' : ''}: ${summary}`,
    ...(able.length === 0
      ? [`    cannot run here: ${why}`]
      : [
          `    formats  ${formats.join(', ')}`,
          `    reads    ${python!.codes} codes, scales in ${scaleLayout}`,
          `    writes   ${outputs.join(', ')}`,
          `    takes    ${takenText(kernel.features)}`
        ])
  ]
}
