/** What is said of architectures names every kernel that manifests have for their own instructions. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { expandVariants, parseKernelRow } from '@shared/contract/kernelRow'
import { targets } from '../../../../src-main/jobs/targets'

const nativeRows = ['cuda', 'hip'].flatMap((folder) => {
  const path = resolve('resources/kernels', folder, 'manifest.json')
  const { kernels } = JSON.parse(readFileSync(path, 'utf8')) as { kernels: unknown[] }
  return kernels.flatMap(expandVariants).flatMap((given) => {
    const row = parseKernelRow(given)
    if (typeof row === 'string') throw new Error(row)
    const isNative = row.formats.some(({ level }) => level === 'native')
    return isNative ? row.architectures.map((architecture) => [row.id, architecture] as const) : []
  })
})

it('there are kernels for block-scaled instructions', () => {
  expect(nativeRows.length).toBeGreaterThan(6)
})

it.each(nativeRows)('%s is said to be there for %s', (id, architecture) => {
  const device = architecture.replace(/(?<=^sm_\d+)a$/, '')
  const said = targets.find(({ devices }) => devices?.includes(device))
  expect(said?.kernels).toContain(id)
  expect(said?.state).not.toBe('absent')
})
