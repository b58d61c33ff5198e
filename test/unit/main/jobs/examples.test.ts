/** Every bundled example is there, small, and what it says it is. */
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { examples } from '@shared/contract/examples'
import { parseUserLayout } from '@shared/layouts/userLayout'
import { readExample } from '../../../../src-main/jobs/examples'

const folder = 'resources/examples'

describe('examples', () => {
  it.each(examples)('$id is read, and small', async ({ id, file }) => {
    const { name, bytes, run } = await readExample(folder, id)
    expect(name).toBe(file)
    expect(bytes.length).toBeGreaterThan(100)
    expect(bytes.length).toBeLessThan(200_000)
    const isRun = id === 'sweep' || id === 'validation'
    expect(run).toBe(isRun ? '20261122-015348-sweep-mxfp4' : '')
    if (id === 'layout') parseUserLayout(new TextDecoder().decode(bytes), file)
  })

  it('are all that lies there', () => {
    const there = readdirSync(folder).filter((name) => name !== 'README.md')
    expect(there.sort()).toEqual([...new Set(examples.map(({ file }) => file))].sort())
  })

  it('a program without them says so', async () => {
    await expect(readExample(undefined, 'sweep')).rejects.toThrow('No examples came')
    await expect(readExample('/nowhere', 'sweep')).rejects.toThrow(
      /h200-8192-mxfp4\.json is missing/
    )
  })
})
