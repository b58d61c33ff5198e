import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import * as v from 'valibot'
import type { Kernel } from '@shared/contract/devices'
import { expandVariants, parseKernelRow, type KernelRow } from '@shared/contract/kernelRow'
import { messageOf, UserError } from '@shared/errors'
import { layoutText } from '@shared/layouts/describe'
import { findLayout } from '@shared/layouts/registry'
import { parseUserLayout } from '@shared/layouts/userLayout'
import { readError, readNamedSync } from '../ground/named'

const manifestSchema = v.looseObject({ kernels: v.array(v.unknown()) })

export interface KernelManifests {
  /** Rows as the addon takes them: `file` is a whole path, `scaleLayout` a name or a layout written out. */
  sources: KernelRow[]
  /** A sentence for each manifest or row that was refused. */
  warnings: string[]
}

/**
 * A folder whose kernels stand beside others of the same ids: theirs end in `suffix` then. Device code that the host itself
 * uses is not taken from it.
 */
export interface KernelSide {
  path: string
  suffix: string
}

/** Reads manifest.json of every folder. A bad row costs that kernel only. Ids are unique: the first one stays. */
export function readKernelManifests(folders: readonly (string | KernelSide)[]): KernelManifests {
  const found: KernelManifests = { sources: [], warnings: [] }
  const taken = new Set<string>()
  for (const given of folders) {
    const { path: folder, suffix } =
      typeof given === 'string' ? { path: given, suffix: undefined } : given
    const refuse = (row: unknown, error: unknown) => {
      const why = messageOf(error).replace(/\.$/, '')
      const path = join(folder, 'manifest.json')
      found.warnings.push(`${path}: ${nameOf(row)} is left out: ${why}.`)
    }
    for (const row of readManifest(folder, found.warnings)) {
      try {
        for (const variant of expandVariants(row)) {
          try {
            const read = readRow(variant, folder)
            if (suffix !== undefined && read.role === 'support') continue
            const source = { ...read, id: read.id + (suffix ?? '') }
            if (taken.has(source.id)) throw new UserError('usage', `the id "${source.id}" is taken`)
            taken.add(source.id)
            found.sources.push(source)
          } catch (error) {
            refuse(variant, error)
          }
        }
      } catch (error) {
        refuse(row, error)
      }
    }
  }
  return found
}

/**
 * The rows of folders that a person named: one that does not load is an error, for its kernels would be left out in silence.
 * Throws a UserError with every warning, behind `prefix`.
 */
export function readKernelSources(
  folders: readonly (string | KernelSide)[],
  prefix = ''
): KernelRow[] {
  const { sources, warnings } = readKernelManifests(folders)
  if (warnings.length > 0) throw new UserError('usage', `${prefix}${warnings.join(' ')}`)
  return sources
}

/** Kernels that come as source, with what their rows say of the problems they take, the time they need and the error they make. */
export function withModels<D extends { kernels: Kernel[] }>(
  devices: readonly D[],
  sources: readonly KernelRow[]
): D[] {
  const models = new Map(
    sources.map(({ id, constants, values, requires, cost, formats }) => [
      id,
      {
        model: { constants, values, requires, ...(cost && { cost }) },
        errors: new Map(formats.map(({ format, error }) => [format, error]))
      }
    ])
  )
  const withModel = (kernel: Kernel): Kernel => {
    const own = models.get(kernel.id)
    if (!own) return kernel
    const capabilities = kernel.capabilities.map((one) => {
      const error = one.level === 'approximate' ? own.errors.get(one.format) : undefined
      return error ? { ...one, error } : one
    })
    return { ...kernel, capabilities, model: own.model }
  }
  return devices.map((device) => ({ ...device, kernels: device.kernels.map(withModel) }))
}

const nameOf = (row: unknown) => {
  const id = (row as { id?: unknown } | null)?.id
  return typeof id === 'string' ? `kernel "${id}"` : 'a kernel without id'
}

/** Throws a UserError that says what is wrong with the row. */
function readRow(row: unknown, folder: string): KernelRow {
  const parsed = parseKernelRow(row)
  if (typeof parsed === 'string') throw new UserError('usage', parsed)
  const problem = problemWith(folder, parsed.file)
  if (problem) throw new UserError('usage', problem)
  return withLayout({ ...parsed, file: join(folder, parsed.file) }, folder)
}

function readManifest(folder: string, warnings: string[]): unknown[] {
  const path = join(folder, 'manifest.json')
  try {
    return v.parse(manifestSchema, JSON.parse(readFileSync(path, 'utf8'))).kernels
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    warnings.push(missing ? `${folder} has no manifest.json.` : readError(path, error).message)
    return []
  }
}

/** A scale layout that is none is refused here, one in a JSON file of the folder is written out. */
function withLayout(row: KernelRow, folder: string): KernelRow {
  const file = row.scaleLayout
  if (!file.endsWith('.json')) {
    findLayout(file)
    return row
  }
  const problem = problemWith(folder, file)
  if (problem) throw new UserError('usage', `for scaleLayout, ${problem}`)
  const path = join(folder, file)
  return { ...row, scaleLayout: layoutText(parseUserLayout(readNamedSync(path).toString(), path)) }
}

function problemWith(folder: string, file: string): string | undefined {
  if (isAbsolute(file) || normalize(file).startsWith('..')) {
    return `its file "${file}" lies outside the folder`
  }
  return existsSync(join(folder, file)) ? undefined : `its file "${file}" is not there`
}
