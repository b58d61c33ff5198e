/** Reports of devices (blockscope doctor) that are kept beside the runs: of this machine, and of others whose owners sent them. */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as v from 'valibot'
import { deviceReportSchema, type DeviceReport } from '@shared/contract/deviceReport'
import { UserError } from '@shared/errors'
import type { KeptReport } from '@shared/measurement/examination'
import { describeIssues } from '@shared/schemaWords'
import { makeFolder, writeFileAtomic } from '../ground/files'
import { readNamed } from '../ground/named'

const folders = { here: 'here', elsewhere: 'elsewhere' } as const

const folderOf = (store: string, where: keyof typeof folders) =>
  join(store, '.devices', folders[where])

/** Throws a UserError for a text that is no report of a device. */
export function parseDeviceReport(text: string, name: string): DeviceReport {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new UserError('usage', `${name} is no report of a device: it is not JSON.`, {
      cause: error
    })
  }
  const parsed = v.safeParse(deviceReportSchema, json)
  if (parsed.success) return parsed.output
  const why = describeIssues([parsed.issues[0]])
  throw new UserError('usage', `${name} is no report of a device: at ${why}.`)
}

/** Those that can be read, the newest first. */
export async function keptReports(store: string): Promise<KeptReport[]> {
  const kept: KeptReport[] = []
  for (const where of ['here', 'elsewhere'] as const) {
    const folder = folderOf(store, where)
    for (const name of await readdir(folder).catch(() => [])) {
      try {
        const report = parseDeviceReport(await readFile(join(folder, name), 'utf8'), name)
        kept.push({ name, isHere: where === 'here', report })
      } catch {
        // A file that someone else put there, or of another version: it proves nothing.
      }
    }
  }
  return kept.sort((one, other) => other.report.createdAt.localeCompare(one.report.createdAt))
}

/** Keeps a report of this machine; the one before of the same device goes. */
export async function keepOwnReport(store: string, name: string, report: string): Promise<void> {
  const folder = folderOf(store, 'here')
  await makeFolder(folder)
  await writeFileAtomic(join(folder, name), report)
}

/** Keeps the file of someone else. Throws a UserError for what is none, and where another of that name is kept already. */
export async function addReport(store: string, path: string): Promise<DeviceReport> {
  const text = (await readNamed(path)).toString()
  const report = parseDeviceReport(text, path)
  const folder = folderOf(store, 'elsewhere')
  const kept = join(folder, basename(path))
  if (existsSync(kept) && (await readFile(kept, 'utf8')) !== text)
    throw new UserError('usage', `Another report is kept as ${kept}; give this file another name.`)
  await makeFolder(folder)
  await writeFileAtomic(kept, text)
  return report
}
