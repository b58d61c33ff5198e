import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import * as v from 'valibot'
import { messageOf, UserError } from '@shared/errors'
import { layoutText } from '@shared/layouts/describe'
import { parseUserLayout } from '@shared/layouts/userLayout'
import type { NativeKernelSource } from './nativeBinding'

/** What every backend needs of a manifest row; the rest of the row is the backend's own and goes through as it is. */
const kernelRowSchema = v.looseObject({
  id: v.pipe(
    v.string(),
    v.regex(/^[\w.-]+$/, 'letters, digits, dots, dashes and underscores only')
  ),
  provider: v.optional(v.string(), 'user'),
  summary: v.string(),
  file: v.string(),
  scaleLayout: v.optional(v.string())
})

type KernelRow = v.InferOutput<typeof kernelRowSchema>

const manifestSchema = v.looseObject({ kernels: v.array(v.unknown()) })

export interface KernelManifests {
  sources: NativeKernelSource[]
  /** A sentence for each manifest or row that was refused. */
  warnings: string[]
}

/** Reads manifest.json of every folder. A bad row costs that kernel only. Ids are unique: the first one stays. */
export function readKernelManifests(folders: readonly string[]): KernelManifests {
  const found: KernelManifests = { sources: [], warnings: [] }
  const taken = new Set<string>()
  for (const folder of folders) {
    for (const row of readManifest(folder, found.warnings)) {
      const path = join(folder, 'manifest.json')
      const parsed = v.safeParse(kernelRowSchema, row)
      if (!parsed.success) {
        const issue = parsed.issues[0]
        found.warnings.push(`${path}: at ${v.getDotPath(issue) ?? 'a kernel'}, ${issue.message}`)
        continue
      }
      const { id, provider, summary, file } = parsed.output
      const problem = taken.has(id) ? `the id "${id}" is taken` : problemWith(folder, file)
      if (problem) {
        found.warnings.push(`${path}: kernel "${id}" is left out: ${problem}.`)
        continue
      }
      try {
        const manifestJson = JSON.stringify(withLayout(parsed.output, folder))
        found.sources.push({ id, provider, summary, file: join(folder, file), manifestJson })
        taken.add(id)
      } catch (error) {
        found.warnings.push(`${path}: kernel "${id}" is left out: ${messageOf(error)}`)
      }
    }
  }
  return found
}

function readManifest(folder: string, warnings: string[]): unknown[] {
  const path = join(folder, 'manifest.json')
  try {
    return v.parse(manifestSchema, JSON.parse(readFileSync(path, 'utf8'))).kernels
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    warnings.push(missing ? `${folder} has no manifest.json.` : `${path}: ${messageOf(error)}`)
    return []
  }
}

/** A scale layout that names a JSON file of the folder becomes the layout written out, as every backend reads it. */
function withLayout(row: KernelRow, folder: string): KernelRow {
  const file = row.scaleLayout
  if (!file?.endsWith('.json')) return row
  const problem = problemWith(folder, file)
  if (problem) throw new UserError('usage', `for scaleLayout, ${problem}.`)
  const path = join(folder, file)
  return { ...row, scaleLayout: layoutText(parseUserLayout(readLayoutFile(path), path)) }
}

function readLayoutFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UserError('usage', `${path} cannot be read: ${messageOf(error)}.`)
  }
}

function problemWith(folder: string, file: string): string | undefined {
  if (isAbsolute(file) || normalize(file).startsWith('..')) {
    return `its file "${file}" lies outside the folder`
  }
  return existsSync(join(folder, file)) ? undefined : `its file "${file}" is not there`
}
