import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseRun } from '@shared/contract/parseRun'
import { noRoofs } from '@shared/charts/limits'
import { sweepLines } from '@shared/charts/sweepSeries'
import { sweepColumns } from '../../../../src-renderer/views/sweep/sweepColumns'

const columnsOf = (name: string) => {
  const file = `docs/results/${name}/run.json`
  const run = parseRun(readFileSync(file, 'utf8'), file)
  const lines = sweepLines([{ run, title: '', overlay: false }])
  return { run, columns: sweepColumns(lines, noRoofs, false) }
}

it('shows the rate back to back of a run that has it, in the unit of the median rate', () => {
  const { run, columns } = columnsOf('h200-8192-peers')
  const step = run.steps.find(({ kernel }) => kernel === 'wgmma-fp8-p128')!
  const { flops, sustainedNs } = step.measurement!
  const column = columns.find(({ id }) => id === 'sustained')!
  expect(column.unit).toBe(columns.find(({ id }) => id === 'rate')!.unit)
  expect(column.text!({ run, runTitle: '', step })).toBe(
    Math.round(flops / sustainedNs / 1e3).toLocaleString('en')
  )
  expect(columnsOf('h200-k-sweep').columns.map(({ id }) => id)).not.toContain('sustained')
})
