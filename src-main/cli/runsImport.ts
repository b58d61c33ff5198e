/** runs import: a run of this program, or what nvbench timed. */
import type { Command } from 'commander'
import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, resolve, sep } from 'node:path'
import { UserError } from '@shared/errors'
import {
  productParts,
  type NvbenchAsked,
  type ProductPart,
  type ReadBeside
} from '@shared/profile/read/nvbenchRun'
import { isFolder, readNamed } from '../ground/named'
import { print, printJson } from '../ground/terminal'
import { exportRun } from '../jobs/exportRun'
import { importRun } from '../store/importRun'
import { readRunFolder } from '../store/runFile'
import type { RunStore } from '../store/runStore'

interface Flags {
  axes?: string
  device?: string
  store?: string
  json?: boolean
}

/** @param open the store of these flags */
export function addImport(command: Command, open: (flags: Flags) => RunStore): void {
  command
    .option(
      '--axes <list>',
      "of nvbench's JSON: the axis that is M, N, K or format, or its value: M=Rows,N=4096,format=mxfp4"
    )
    .option('--device <number>', "of nvbench's JSON: which of its devices")
    .action(async (file: string, flags: Flags) => {
      const store = open(flags)
      const bytes = isFolder(file)
        ? (await exportRun({ run: await readRunFolder(file), folder: file }, 'folder')).bytes
        : await readNamed(file)
      const { axes, device } = flags
      const nvbench: NvbenchAsked = {
        ...(axes !== undefined && { axes: axesOf(axes) }),
        ...(device !== undefined && { device })
      }
      const as = { nvbench, readBeside: beside(file) }
      const summary = await importRun(store, basename(file), bytes, as)
      if (flags.json) printJson(summary)
      else print(`Imported as ${summary.id}.`)
    })
}

function axesOf(text: string): Partial<Record<ProductPart, string>> {
  const pairs = text.split(',').map((pair) => {
    const [name = '', ...value] = pair.split('=')
    const part = productParts.find((one) => one.toLowerCase() === name.trim().toLowerCase())
    if (!part || value.join('') === '')
      throw new UserError(
        'usage',
        `--axes "${text}": write ${productParts.join(', ')}, each with = and an axis or its value.`
      )
    return [part, value.join('=').trim()]
  })
  return Object.fromEntries(pairs) as Partial<Record<ProductPart, string>>
}

/** Files that another names, below its own folder alone, where they have the length that it says. */
function beside(file: string): ReadBeside {
  const folder = dirname(resolve(file))
  return (path, byteLength) => {
    const whole = resolve(folder, path)
    if (!whole.startsWith(folder + sep)) return undefined
    try {
      return statSync(whole).size === byteLength ? readFileSync(whole) : undefined
    } catch {
      return undefined
    }
  }
}
