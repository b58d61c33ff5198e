/** The mistakes that test/gpu/blockScale.mjs and tcgen05.mjs make in kernels on a GPU: each is a change of today's source. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { mistakes as blockScale } from '../../gpu/blockScaleMistakes.mjs'
import { change } from '../../gpu/change.mjs'
import { mistakes as tcgen05 } from '../../gpu/tcgen05Mistakes.mjs'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-mistakes-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe.each([
  ['sm_120', blockScale],
  ['tcgen05', tcgen05]
])('%s', (_, mistakes) => {
  it.each([...mistakes])('$name', ({ name, changes }) => {
    const copy = join(folder, name.replace(/\W/g, '-'))
    cpSync('resources/kernels/cuda', copy, { recursive: true })
    expect(() => change(copy, changes)).not.toThrow()
  })
})
