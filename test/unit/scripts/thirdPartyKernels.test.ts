/** What test/gpu/thirdParty.mjs runs, without its GPU: Triton's PTX with calls in place of what only sm_120 and sm_100 have. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { readKernelManifests } from '../../../src-main/engine/kernelManifests'
import { change } from '../../gpu/change.mjs'
import { kernels, rewritten, writeKernels } from '../../gpu/thirdPartyKernels.mjs'
import { mistakesOf } from '../../gpu/thirdPartyMistakes.mjs'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-third-party-'))
afterAll(() => rmSync(folder, { recursive: true }))

const ptxOf = (file: string) =>
  gunzipSync(readFileSync(join('test/fixtures/kernels', file))).toString()
const opcodesOf = (lines: string[]) =>
  lines.flatMap((line) => /^(?:@\S+\s+)?([a-z][\w.:]*)(?=[\s;])/.exec(line.trim())?.[1] ?? [])

describe.each(kernels)('$id', (kernel) => {
  const ptx = ptxOf(kernel.file)
  const { lines, replaced } = rewritten(kernel, ptx)

  it('keeps every other line, in order', () => {
    const kept = new Set(lines)
    const body = ptx.slice(ptx.indexOf('{') + 1, ptx.lastIndexOf('}')).split('\n')
    const missing = body
      .map((line) => line.trim().replaceAll('$L__', 'L__').replaceAll('global_smem', '#SHARED'))
      .filter((line) => line !== '' && !kept.has(line))
    const counts: Record<string, number> = {}
    for (const opcode of opcodesOf(missing)) counts[opcode] = (counts[opcode] ?? 0) + 1
    const { ret, 'ld.param.b32': words, 'ld.param.b64': pointers, ...others } = counts
    expect({ ret, pointers, hasWords: words !== undefined }).toEqual({
      ret: 1,
      pointers: 5,
      hasWords: true
    })
    expect(others).toEqual(replaced)
    const original = body.map((line) => line.trim())
    const ofBoth = (line: string) => /\w/.test(line) && kept.has(line) && original.includes(line)
    expect(lines.filter(ofBoth)).toEqual(original.filter(ofBoth))
  })

  it('has nothing left that sm_90 lacks', () => {
    const left = opcodesOf(lines).filter((opcode) => /^tcgen05|block_scale|b[46]x16/.test(opcode))
    expect(left).toEqual([])
    const products = Object.entries(replaced).filter(([opcode]) => /block_scale/.test(opcode))
    expect(products).toHaveLength(1)
  })

  it('has no register with a name that the compiler gives, which would hide an operand', () => {
    writeKernels(folder, [kernel])
    const source = readFileSync(join(folder, `${kernel.id}.cu`), 'utf8')
    expect(source).not.toMatch(/%%(p|r|rs|rd)[\d<]/)
    for (let i = 0; i < 5; i++) expect(source).toMatch(new RegExp(`mov\\.b64 %%\\w+, %${i};`))
  })

  it('finds the place of every mistake in the emulation', () => {
    for (const { changes } of mistakesOf(kernel)) {
      writeKernels(folder, [kernel])
      change(folder, changes)
    }
    const { sources, warnings } = readKernelManifests([folder])
    expect(warnings).toEqual([])
    expect(sources.map(({ id }) => id)).toEqual([kernel.id])
  })
})

it('has all of the fixtures', () => {
  expect(kernels.map(({ target }) => target).sort()).toEqual([
    ...Array(6).fill('sm100'),
    ...Array(6).fill('sm120')
  ])
})
