/** README's excerpt of a validation has columns and closing lines of what the program prints. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runInProcess } from '../../support/runInProcess'

it('every column that README shows of a validation is one that it prints', async () => {
  const store = mkdtempSync(join(tmpdir(), 'blockscope-prints-'))
  try {
    const printed = (
      await runInProcess([
        ...['validate', '--formats', 'mxfp4', '--device', 'cpu', '--store', store],
        ...['-M', '64', '-N', '64', '-K', '64']
      ])
    ).stdout.split('\n')
    const excerpt = /## What it prints[\s\S]*?```\n([\s\S]*?)```/
      .exec(readFileSync('README.md', 'utf8'))![1]!
      .split('\n')
    const columns = (line: string) => line.trim().split(/ {2,}/)
    const head = columns(excerpt[0]!)
    expect(head.length).toBeGreaterThan(8)
    expect(columns(printed[0]!).filter((name) => head.includes(name))).toEqual(head)
    for (const row of excerpt.filter((line) => line.startsWith('mx')))
      expect(columns(row)).toHaveLength(head.length)
    for (const word of ['Passed: ', 'Run folder: '])
      for (const lines of [excerpt, printed])
        expect(lines.filter((line) => line.startsWith(word))).toHaveLength(1)
  } finally {
    rmSync(store, { recursive: true, force: true })
  }
})
