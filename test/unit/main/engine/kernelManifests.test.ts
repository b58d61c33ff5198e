import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { layoutCode } from '@shared/layouts/formula'
import { findLayout } from '@shared/layouts/registry'
import { parseUserLayout } from '@shared/layouts/userLayout'
import { readKernelManifests } from '../../../../src-main/engine/kernelManifests'

const row = { id: 'mine', summary: 'a kernel', file: 'mine.cu' }
const layout = { name: 'own', rows: 'r:0 ri:8', columns: 'c:0', order: 'c r ri' }

function folderWith(rows: unknown, files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'kernels-'))
  const all = { 'manifest.json': JSON.stringify({ kernels: rows }), 'mine.cu': '', ...files }
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}
const scaleLayoutOf = (source: { manifestJson: string } | undefined) =>
  (JSON.parse(source!.manifestJson) as { scaleLayout?: string }).scaleLayout

describe('kernel manifests', () => {
  it('are read folder by folder; the rest of a row goes through as it is', () => {
    const folder = folderWith([{ ...row, launches: [{ function: 'f' }] }])
    const { sources, warnings } = readKernelManifests([folder])
    expect(warnings).toEqual([])
    expect(sources).toHaveLength(1)
    expect(sources[0]).toMatchObject({
      id: 'mine',
      provider: 'user',
      summary: 'a kernel',
      file: join(folder, 'mine.cu')
    })
    expect(JSON.parse(sources[0]!.manifestJson)).toMatchObject({ launches: [{ function: 'f' }] })
    expect(scaleLayoutOf(sources[0])).toBeUndefined()
  })

  it('a bad row costs that kernel only, and the first of two ids stays', () => {
    const rows = [row, { ...row, id: 'no spaces' }, row, { ...row, id: 'far', file: '../a.cu' }]
    const { sources, warnings } = readKernelManifests([folderWith(rows), '/nowhere'])
    expect(sources.map(({ id }) => id)).toEqual(['mine'])
    expect(warnings).toHaveLength(4)
    expect(warnings.join('\n')).toMatch(/at id, letters/)
    expect(warnings.join('\n')).toMatch(/the id "mine" is taken/)
    expect(warnings.join('\n')).toMatch(/its file "..\/a.cu" lies outside the folder/)
    expect(warnings.join('\n')).toMatch(/\/nowhere has no manifest.json/)
  })
})

describe('the scale layout of a kernel', () => {
  it('that is a file of the folder reaches the backend written out', () => {
    const named = { ...row, scaleLayout: 'layouts/own.json' }
    const folder = folderWith([named], { 'layouts/own.json': JSON.stringify(layout) })
    const { sources, warnings } = readKernelManifests([folder])
    expect(warnings).toEqual([])
    expect(scaleLayoutOf(sources[0])).toBe('own = r:0 ri:8 | c:0 | c r ri')
  })

  it('that is a name or written out goes through as it is', () => {
    const rows = ['nvidia_32_4_4', 'own = r:0 | c:0 | c r'].map((scaleLayout, i) => ({
      ...row,
      id: `k${i}`,
      scaleLayout
    }))
    const { sources } = readKernelManifests([folderWith(rows)])
    expect(sources.map(scaleLayoutOf)).toEqual(rows.map(({ scaleLayout }) => scaleLayout))
  })

  it.each([
    ['no.json', 'for scaleLayout, its file "no.json" is not there.'],
    ['../own.json', 'for scaleLayout, its file "../own.json" lies outside the folder.'],
    ['/etc/own.json', 'for scaleLayout, its file "/etc/own.json" lies outside the folder.'],
    ['text.json', 'text.json is no usable layout: it is not JSON.'],
    ['short.json', 'order must name "c" exactly once'],
    ['folder.json', 'folder.json cannot be read'],
    [3, 'at scaleLayout, ']
  ])('%j is refused with a sentence, and the other kernels stay', (scaleLayout, message) => {
    const folder = folderWith(
      [
        { ...row, scaleLayout },
        { ...row, id: 'other' }
      ],
      {
        'text.json': 'own = r:0',
        'short.json': JSON.stringify({ ...layout, order: 'r ri' }),
        'folder.json/a': ''
      }
    )
    const { sources, warnings } = readKernelManifests([folder])
    expect(sources.map(({ id }) => id)).toEqual(['other'])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(message)
    expect(warnings[0]).toMatch(/manifest\.json: /)
  })
})

describe('the example of a kernel with a layout of its own', () => {
  const folder = 'test/gpu/kernels/userLayout'
  const path = `${folder}/layouts/columnPairs.json`
  const own = parseUserLayout(readFileSync(path, 'utf8'), path)

  it('is read, and its layout is one that no registry has', () => {
    const { sources, warnings } = readKernelManifests([folder])
    expect(warnings).toEqual([])
    expect(sources.map(({ id }) => id)).toEqual(['user-layout', 'user-layout-mismatched'])
    expect(findLayout(scaleLayoutOf(sources[0])!)).toMatchObject({ name: 'column_pairs' })
    expect(() => findLayout(own.name)).toThrow('is no scale layout')
  })

  it('has the index function that layout code prints', () => {
    const code = layoutCode(own, 'cpp').replace('constexpr', '__device__ constexpr')
    const lines = (text: string) => text.replace(/\s+/g, ' ')
    expect(lines(readFileSync(`${folder}/scaleOffset.cuh`, 'utf8'))).toContain(lines(code))
  })
})
