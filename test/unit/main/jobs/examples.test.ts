/** Every bundled example is there, small, and what it says it is. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { examples } from '@shared/contract/examples'
import { count } from '@shared/units'
import { parseUserLayout } from '@shared/layouts/userLayout'
import { parseRun } from '../../../../src-shared/contract/parseRun'
import { runBlockscope } from '../../../support/runBlockscope'
import { readExample } from '../../../../src-main/jobs/examples'

const folder = 'resources/examples'

describe('examples', () => {
  it.each(examples)('$id is read, and small', async ({ id, file }) => {
    const { name, bytes, run } = await readExample(folder, id)
    expect(name).toBe(file)
    expect(bytes.length).toBeGreaterThan(100)
    expect(bytes.length).toBeLessThan(450_000)
    const runs: Partial<Record<typeof id, string>> = {
      validation: '20261122-015348-sweep-mxfp4',
      sweep: '20261122-015348-sweep-mxfp4',
      overK: '20261122-192105-sweep-4-formats'
    }
    expect(run).toBe(runs[id] ?? '')
    if (id === 'layout') parseUserLayout(new TextDecoder().decode(bytes), file)
  })

  it.each(examples.filter(({ glimpse }) => glimpse))(
    '$id: what is drawn before it is read is in its file',
    async ({ id, file, glimpse }) => {
      const path = join(folder, file)
      const figures = new Map<string, number>()
      if (file.endsWith('hatchet') || file.includes('trace')) {
        const { stdout } = await runBlockscope(['top', path, '--json'])
        const { rows } = JSON.parse(stdout) as {
          rows: { name: string; metrics: Record<string, number> }[]
        }
        for (const { name, metrics } of rows) {
          const [, k] = /K=(\d+)\]/.exec(name) ?? []
          if (id === 'trace') figures.set(name.split(' ')[0]!, metrics['time/ms']!)
          else if (k) figures.set(`K = ${count(Number(k))}`, metrics['avg_time/us']!)
        }
      } else {
        const run = parseRun(readFileSync(path, 'utf8'), path)
        for (const { kernel, format, k, measurement } of run.steps) {
          if (!measurement) continue
          if (id !== 'overK') figures.set(kernel, measurement.tflops)
          else if (format === 'mxfp4' && glimpse!.of.startsWith(`${kernel} `))
            figures.set(`K = ${count(k)}`, measurement.tflops)
        }
      }
      for (const { name, value } of glimpse!.bars)
        expect(Math.abs(value / figures.get(name)! - 1)).toBeLessThan(0.005)
    }
  )

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
