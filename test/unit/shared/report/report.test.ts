import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseRun } from '@shared/contract/parseRun'
import type { Run } from '@shared/contract/run'
import { runToHtml } from '@shared/report/html'
import { escapeMarkup } from '@shared/report/markup'
import { runToJunit } from '@shared/report/junit'
import { runToNvbench } from '@shared/report/nvbench'
import { runToCsv, runToMarkdown } from '@shared/report/text'
import { figure } from '@shared/report/table'
import { sampleRun, sampleStep } from '../../../support/sampleRun'

const hostile = sampleRun({
  label: '<script>alert(1)</script>',
  steps: [sampleStep(0, { disposition: 'error', reason: 'a "quoted", comma\nand | a pipe' })]
})

const saved = 'docs/results/h200-8192/run.json'

describe('reports', () => {
  it('CSV quotes what needs it, one line a step', () => {
    const csv = runToCsv(hostile)
    expect(csv).toContain('"a ""quoted"", comma\nand | a pipe"')
    const header = csv.split('\n')[0]!.split(',')
    const row = runToCsv(sampleRun()).trim().split('\n')[1]!.split(',')
    expect(row).toHaveLength(header.length)
    expect(row[header.indexOf('k')]).toBe('512')
  })

  it('CSV has the error that an approximate kernel states, what it made of it, and groups', () => {
    const { validation } = parseRun(readFileSync(saved, 'utf8'), saved).steps[0]!
    const figures = { ...validation!, statedError: 1.5e-4, errorBeforeRounding: 1.3e-4 }
    const approximate = sampleStep(0, {
      validation: figures,
      groups: { layout: 'offsets', rows: [5, 5], alignment: 1, maxRows: 0 }
    })
    const csv = runToCsv(sampleRun({ steps: [approximate, sampleStep(1)] }))
    const [header, ...rows] = csv.split('\n').map((line) => line.split(','))
    const column = (name: string) => rows.slice(0, 2).map((row) => row[header!.indexOf(name)])
    expect(column('stated_error')).toEqual(['0.00015', ''])
    expect(column('error_before_rounding')).toEqual(['0.00013', ''])
    expect(header!.at(-1)).toBe('groups')
    expect(csv).toContain(',"2 groups of 5 rows, offsets"\n')
  })

  it('Markdown escapes the pipe', () => {
    expect(runToMarkdown(hostile)).toContain('and \\| a pipe')
  })

  it('HTML holds no script, whatever the label says', () => {
    const html = runToHtml(hostile)
    expect(html).not.toContain('<script')
    expect(html).toContain('&lt;script&gt;')
    expect(html).toContain('<strong>Failed</strong>: 0 of 1 measured, 1 failed')
  })

  it('JUnit has a suite for each format, and says of each step what became of it', () => {
    const run = sampleRun({
      label: 'x',
      steps: [
        sampleStep(0),
        sampleStep(1, { disposition: 'incorrect', reason: '3 < 4 & "more"\u0001' }),
        sampleStep(2, { format: 'mxfp4', disposition: 'error', reason: 'lost' }),
        sampleStep(3, { format: 'mxfp4', disposition: 'not-supported', reason: '' }),
        sampleStep(4, { format: 'mxfp4', disposition: 'baseline' })
      ]
    })
    const at = 'timestamp="2026-11-20T12:00:00.000Z"'
    const name = 'name="cpu-avx2 M=128 N=128 K=512" time="0.500"'
    expect(runToJunit(run)).toBe(
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<testsuites name="blockscope sweep 20261120-120000-sweep-mxfp8" tests="5" failures="1" errors="1" skipped="2" time="2.500">',
        `  <testsuite name="mxfp8" tests="2" failures="1" errors="0" skipped="0" time="1.000" ${at}>`,
        `    <testcase classname="mxfp8" ${name}/>`,
        `    <testcase classname="mxfp8" ${name}>`,
        '      <failure message="3 &lt; 4 &amp; &quot;more&quot; "/>',
        '    </testcase>',
        '  </testsuite>',
        `  <testsuite name="mxfp4" tests="3" failures="0" errors="1" skipped="2" time="1.500" ${at}>`,
        `    <testcase classname="mxfp4" ${name}>`,
        '      <error message="lost"/>',
        '    </testcase>',
        `    <testcase classname="mxfp4" ${name}>`,
        '      <skipped message="not supported"/>',
        '    </testcase>',
        `    <testcase classname="mxfp4" ${name}>`,
        '      <skipped message="reference only"/>',
        '    </testcase>',
        '  </testsuite>',
        '</testsuites>',
        ''
      ].join('\n')
    )
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

describe('the HTML report', () => {
  const path = 'docs/results/h200-8192-mxfp4/run.json'
  const measured = parseRun(readFileSync(path, 'utf8'), path)
  const html = runToHtml(measured)

  it('has the verdict, tolerance, device, method, command and every step', () => {
    for (const words of [
      '<strong>Passed</strong>: 16 of 16 measured',
      'Scale check: ',
      'NVIDIA H200, sm_90',
      '0.001 + 0.001 |reference|',
      escapeMarkup(measured.command),
      'bs-1'
    ])
      expect(html).toContain(words)
    const rows = html.slice(html.indexOf('Every step')).match(/<tr>/g)!
    expect(rows.length).toBeGreaterThanOrEqual(measured.steps.length)
  })

  it('has an extent that all steps share once, over the table, and one that differs as a column', () => {
    const tableOf = (run: Run) => runToHtml(run).split('<h2>Every step')[1]!.split('</thead>')[0]!
    expect(tableOf(measured)).toContain('<small>M 8192, N 8192, K 8192</small>')
    expect(tableOf(measured)).not.toContain('>K</th>')
    const [first, ...others] = measured.steps
    const mixed = { ...measured, steps: [{ ...first!, k: 4096 }, ...others] }
    expect(tableOf(mixed)).toContain('<small>M 8192, N 8192</small>')
    expect(tableOf(mixed)).toContain('>K</th>')
  })

  it('has its charts inside, as SVG with every kernel, and asks nothing of the network', () => {
    expect(html.match(/<figure/g)!.length).toBeGreaterThanOrEqual(2)
    const charts = html.slice(html.indexOf('<figure'))
    for (const { kernel } of measured.steps) expect(charts).toContain(`>${kernel}<`)
    const far = /<(script|link|img|iframe)|\bsrc=|url\((?!#)|@import|NaN|undefined/.exec(html)
    expect(far && html.slice(far.index - 40, far.index + 80)).toBeNull()
  })

  it('has a dark rule for every colour of its charts, for screens alone', () => {
    const html = runToHtml(parseRun(readFileSync(saved, 'utf8'), saved))
    const [, dark] = html.split('@media screen and (prefers-color-scheme: dark)')
    const style = dark!.split('</style>')[0]!
    const charts = html.slice(html.indexOf('<figure'))
    const drawn = new Set(
      [...charts.matchAll(/(fill|stroke)="(#[0-9a-f]{6})"/g)].map(([whole]) => whole)
    )
    // Marks of no size keep the library's own colours.
    const sizeless = new Set(
      [...charts.matchAll(/matrix\(0,0,0,0,[^>]*?(fill="#[0-9a-f]{6}")/g)].map(([, one]) => one!)
    )
    expect(drawn.size).toBeGreaterThan(8)
    for (const one of drawn) if (!sizeless.has(one)) expect(style).toContain(`[${one}]`)
  })

  it('says in a cell without a step why there is none, and has references last', () => {
    const html = runToHtml(parseRun(readFileSync(saved, 'utf8'), saved))
    const table = html.split('Every kernel, every format')[1]!.split('</table>')[0]!
    expect(table).toContain('>mxfp4 only<')
    expect(table).toContain('>does not compile<')
    const kernels = [...table.matchAll(/<th scope="row"><code>([^<]+)/g)].map(([, name]) => name!)
    expect(kernels.slice(-2).every((name) => name.startsWith('cublaslt'))).toBe(true)
  })

  it('of a validation maps where the errors are', () => {
    const validation = { ...measured, kind: 'validate' as const }
    const maps = runToHtml(validation).split('Where in C')[1]!.split('<h2>')[0]!
    expect(maps.match(/<figure>/g)).toHaveLength(6)
    expect(maps).toContain('tiles of ')
  })
})

describe('ratios to what was timed in the same run', () => {
  const path = 'docs/results/h200-8192-mxfp4/run.json'
  const run = parseRun(readFileSync(path, 'utf8'), path)
  const cells = (line: string) => line.split('|').map((cell) => cell.trim())

  it('stand in the table and in Markdown, as the README says them of this run', () => {
    const lines = runToMarkdown(run).trim().split('\n').map(cells)
    const [kernel, bf16, cublasLt] = ['kernel', '× bf16', '× cuBLASLt'].map((title) =>
      lines[0]!.indexOf(title)
    )
    const ratios = Object.fromEntries(
      lines.slice(2).map((row) => [row[kernel!], [row[bf16!], row[cublasLt!]]])
    )
    expect(ratios).toMatchObject({
      widecs: ['1.00', '0.59'],
      t32: ['1.08', '0.63'],
      t64: ['1.42', '0.83'],
      t128: ['1.65', '0.97'],
      'wgmma-fp8-p256': ['1.69', '0.99'],
      'cublaslt-bf16': ['1.00', expect.any(String)],
      'cublaslt-fp8': [expect.any(String), '1.00']
    })
  })

  it('of what ran back to back stand beside its rate and power, where a sweep asked for that', () => {
    const sustainedNs: Record<string, number> = { t128: 900e3, 'cublaslt-bf16': 1440e3 }
    const steps = run.steps.map((step) => ({
      ...step,
      measurement: step.measurement && {
        ...step.measurement,
        sustainedNs: sustainedNs[step.kernel] ?? 0,
        sustainedWatts: step.kernel === 't128' ? 698.4 : 0
      }
    }))
    const [head, , ...rows] = runToMarkdown({ ...run, steps })
      .trim()
      .split('\n')
      .map(cells)
    const columns = ['sustained (TFLOP/s)', 'sustained × bf16', 'power (W)']
    const of = (kernel: string) => {
      const row = rows.find((cell) => cell[head!.indexOf('kernel')] === kernel)!
      return columns.map((title) => row[head!.indexOf(title)])
    }
    expect(of('t128')).toEqual(['1222', '1.60', '698.4'])
    expect(of('cublaslt-bf16')).toEqual(['763.5', '1.00', '-'])
    expect(of('t64')).toEqual(['-', '-', '-'])
    expect(runToMarkdown(run)).not.toContain('sustained')
    const unpowered = steps.map(({ measurement: m, ...of }) => ({
      ...of,
      measurement: m && { ...m, sustainedWatts: 0 }
    }))
    expect(runToMarkdown({ ...run, steps: unpowered })).not.toContain('power (W)')
    const [fields, ...lines] = runToCsv({ ...run, steps })
      .trim()
      .split('\n')
    expect(fields).toContain('sustained_ns,sustained_watts,joules_per_launch')
    expect(lines.filter((line) => line.includes(',900000,698.4,'))).toHaveLength(1)
  })

  it('stand in CSV as numbers, empty where none of them was timed at that point', () => {
    const [first, ...rest] = run.steps
    const elsewhere = { ...run, steps: [{ ...first!, k: 1024 }, ...rest] }
    // The last three fields; a reason before them may hold commas.
    const ends = runToCsv(elsewhere)
      .trim()
      .split('\n')
      .map((line) => line.split(',').slice(-3))
    expect(ends[0]).toEqual(['ratio_to_bf16', 'ratio_to_cublaslt', 'ratio_to_hipblaslt'])
    expect(ends[1]).toEqual(['', '', ''])
    const rate = (kernel: string) =>
      run.steps.find((step) => step.kernel === kernel)!.measurement!.tflops
    const at = run.steps.findIndex(({ kernel }) => kernel === 't64')
    expect(ends[at + 1]).toEqual([
      ...[`${rate('t64') / rate('cublaslt-bf16')}`, `${rate('t64') / rate('cublaslt-fp8')}`],
      ''
    ])
  })

  it('are no columns where neither was timed', () => {
    expect(runToMarkdown(sampleRun())).not.toContain('×')
    expect(runToHtml(run)).toContain('× cuBLASLt')
  })
})
