import { describe, expect, it } from 'vitest'
import { runToHtml } from '@shared/report/html'
import { runToNvbench } from '@shared/report/nvbench'
import { runToCsv, runToMarkdown } from '@shared/report/text'
import { figure } from '@shared/report/table'
import { sampleRun, sampleStep } from '../../../support/sampleRun'

const hostile = sampleRun({
  label: '<script>alert(1)</script>',
  steps: [sampleStep(0, { disposition: 'error', reason: 'a "quoted", comma\nand | a pipe' })]
})

describe('reports', () => {
  it('CSV quotes what needs it, one line a step', () => {
    const csv = runToCsv(hostile)
    expect(csv).toContain('"a ""quoted"", comma\nand | a pipe"')
    const header = csv.split('\n')[0]!.split(',')
    const row = runToCsv(sampleRun()).trim().split('\n')[1]!.split(',')
    expect(row).toHaveLength(header.length)
    expect(row[header.indexOf('k')]).toBe('512')
  })

  it('Markdown escapes the pipe', () => {
    expect(runToMarkdown(hostile)).toContain('and \\| a pipe')
  })

  it('HTML holds no script, whatever the label says', () => {
    const html = runToHtml(hostile)
    expect(html).not.toContain('<script')
    expect(html).toContain('&lt;script&gt;')
    expect(html).toContain('0 of 1 steps passed')
  })

  it('nvbench JSON lists only measured points', () => {
    expect(JSON.parse(runToNvbench(sampleRun())).benchmarks).toEqual([])
  })

  it.each([
    [0, '0'],
    [1234.5678, '1235'],
    [0.00012345, '1.23e-4'],
    [NaN, 'NaN'],
    [undefined, '-']
  ])('figure(%s) is %s', (value, text) => expect(figure(value)).toBe(text))
})
