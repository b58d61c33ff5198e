/** A run as a report that stands alone: one HTML file with its charts inside, without scripts, links or fonts from elsewhere. */
import { modelTimesOf, modelTimeText } from '../measurement/modelTime'
import { captionOf } from '../charts/picture'
import { operationName } from '../contract/operation'
import type { Run, Step } from '../contract/run'
import { outcomeOf, verdictWords } from '../measurement/outcome'
import { hostText, madeByText, operandsText } from '../measurement/runName'
import { pointText } from '../measurement/problemText'
import { mistakesOf, ruleOf } from '../measurement/validationFigures'
import { judgedSteps, largestErrorText, scaleCheckText } from '../measurement/validationSummary'
import { digits } from '../units'
import { stepLines } from './stepLines'
import { escapeMarkup } from './markup'
import { errorMaps, speedCharts, type ReportChart } from './reportCharts'
import { reportMatrix } from './reportMatrix'
import { reportStyle } from './reportStyle'
import { columnsOf, figure, heading, type Column } from './table'

function definitions(rows: readonly (readonly [string, string])[]): string {
  const items = rows
    .filter(([, value]) => value !== '')
    .map(([term, value]) => `<dt>${escapeMarkup(term)}</dt><dd>${escapeMarkup(value)}</dd>`)
  return `<dl class="more">${items.join('')}</dl>`
}

const hex = (codes: number[]) => codes.map((c) => c.toString(16).padStart(2, '0')).join(' ')

function failures(step: Step): string {
  const list = step.validation?.failures ?? []
  // What only stands for comparison is to be outside.
  if (list.length === 0 || step.baseline) return ''
  const rows = list.map(
    (f) =>
      `<tr><td class="right">${f.row}</td><td class="right">${f.col}</td>` +
      `<td class="right">${figure(f.got)}</td><td class="right">${figure(f.reference)}</td>` +
      `<td class="right">${f.block}</td><td><code>${hex(f.aCodes)}${f.aScale === undefined ? '' : ` x ${hex([f.aScale])}`}</code></td>` +
      `<td><code>${hex(f.bCodes)} x ${hex([f.bScale])}</code></td></tr>`
  )
  return (
    `<h3>${escapeMarkup(step.format)} ${escapeMarkup(step.kernel)}: first failing elements</h3>` +
    '<div class="wide"><table class="steps"><thead><tr><th class="right">row</th><th class="right">column</th>' +
    '<th class="right">got</th><th class="right">reference</th><th class="right">scale block</th>' +
    `<th>A codes x scale</th><th>B codes x scale</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
  )
}

const figureOfChart = ({ svg, title }: ReportChart) =>
  `<figure role="img" aria-label="${escapeMarkup(title)}">${svg}</figure>`

function charts(run: Run): string {
  const speed = speedCharts(run).map(
    (chart) =>
      `<h2>${escapeMarkup(chart.title)} <small>${escapeMarkup(chart.note)}</small></h2>${figureOfChart(chart)}`
  )
  const maps = errorMaps(run).map(
    (chart) =>
      `<figure><figcaption><code>${escapeMarkup(chart.title)}</code>, ${chart.note}</figcaption>${chart.svg}</figure>`
  )
  const where =
    maps.length > 0
      ? `<h2>Where in C <small>largest error over tolerance of each tile; what failed first, then what came nearest</small></h2><div class="maps">${maps.join('')}</div>`
      : ''
  return speed.join('') + where
}

function banner(run: Run): string {
  const { verdict, sentence } = outcomeOf(run)
  const tone = verdict === 'passed' ? 'ok' : verdict === 'failed' ? 'bad' : 'warn'
  const sign = { ok: '✓', bad: '✗', warn: '!' }[tone]
  const notes = [
    run.reason,
    largestErrorText(run),
    scaleCheckText(run),
    ...run.steps.flatMap(mistakesOf)
  ].filter(Boolean)
  return (
    `<div class="banner ${tone}"><span class="sign" aria-hidden="true">${sign}</span><div>` +
    `<p class="verdict"><strong>${verdictWords[verdict]}</strong>: ${escapeMarkup(sentence)}</p>` +
    `<p>${escapeMarkup(notes.join(' '))}</p></div></div>`
  )
}

function keyFacts(run: Run): string {
  const own = run.steps.filter(({ measurement, baseline }) => measurement && !baseline)
  const rate = ({ measurement }: Step) => measurement!.tflops
  const fastest = own.reduce<Step | undefined>(
    (best, step) => (best && rate(best) >= rate(step) ? best : step),
    undefined
  )
  const judged = run.steps.find((step) => step.validation)?.validation
  const measured = run.steps.find((step) => step.measurement)?.measurement
  const { device } = run
  const property = (name: string, unit = '') => {
    const value = device?.properties[name]
    return value === undefined || value === '' ? '' : `${String(value)}${unit}`
  }
  const facts: [string, string, string][] = [
    fastest
      ? ['Fastest', `${digits(rate(fastest))} TFLOP/s, ${fastest.format}`, fastest.kernel]
      : ['Judged', `${judgedSteps(run).length} of ${run.steps.length}`, run.kind],
    [
      'Device',
      device ? `${device.name}, ${device.architecture}` : 'none',
      [
        property('driverVersion') && `driver ${property('driverVersion')}`,
        property('powerLimitW', ' W')
      ]
        .filter(Boolean)
        .join(', ')
    ],
    [
      'Tolerance',
      judged ? `${judged.atol} + ${judged.rtol} |reference|` : 'nothing was judged',
      judged ? `every element, ${judged.oracle}` : ''
    ],
    measured
      ? ['Timing', `median, ${measured.timingSource}`, measured.method]
      : ['Timing', 'not timed', '']
  ]
  const items = facts.map(
    ([term, first, second]) =>
      `<div><dt>${term}</dt><dd>${escapeMarkup(first)}</dd><dd>${escapeMarkup(second)}</dd></div>`
  )
  return `<dl class="facts">${items.join('')}</dl>`
}

/** Generated, or those of a file. */
function operandsOf(run: Run): string {
  const { spec, operandsRead = [] } = run
  const files = spec.kind === 'validate' ? spec.operandsFiles : undefined
  if (files === undefined) return operandsText(run)
  return [`${files.join(', ')}.`, ...operandsRead].join(' ')
}

function method(run: Run): string {
  const judged = run.steps.find((step) => step.validation)?.validation
  const measured = run.steps.flatMap(({ measurement }) => measurement ?? [])
  const samples = measured.map(({ timeNs }) => timeNs.samples)
  const badges = [...new Set(measured.flatMap((one) => one.badges))]
  return `<h2>Method</h2>${definitions([
    ['What passes', judged ? ruleOf(judged) : ''],
    ['Reference', judged?.oracle ?? ''],
    [
      'Scale check',
      judged
        ? 'One scale of A, then one of B, is raised by one exponent: exactly its row or column must change, by exactly that block’s share.'
        : ''
    ],
    [
      'Timing',
      measured.length > 0
        ? `${measured[0]!.method}: ${Math.min(...samples)} to ${Math.max(...samples)} samples a point, ${measured[0]!.timingSource}, ${measured[0]!.cacheMode}`
        : ''
    ],
    ['Stood out', badges.join(', ')],
    ['Operands', operandsOf(run)],
    ['Output type', run.spec.output],
    ['Operation', operationName(run.spec)],
    [run.measuredBy ? 'Imported' : 'Started', run.createdAt],
    ['Finished', run.finishedAt ?? ''],
    ['Host', hostText(run)],
    ['Made by', madeByText(run)],
    ['Notes', run.notes],
    ...run.events.map((event): [string, string] => [event.at, event.message])
  ])}`
}

const told = (title: string, lines: readonly string[]): string =>
  lines.length === 0
    ? ''
    : `<h2>${title}</h2>${lines.map((line) => `<p>${escapeMarkup(line)}</p>`).join('')}`

const underSteps = (run: Run): string =>
  stepLines(run)
    .map(({ title, lines }) => told(title, lines))
    .join('')

/** What the layers of a model take together. */
function modelTimes(run: Run): string {
  return told("The model's linear layers", modelTimesOf(run).map(modelTimeText))
}

/** What tells the steps apart: an extent that is the same in all stands once, over the table. */
const extents = ['M', 'N', 'K']

function everyStep(run: Run): string {
  const isSame = ({ title, text }: Column) =>
    extents.includes(title) && run.steps.every((step) => text(step) === text(run.steps[0]!))
  const columns = columnsOf(run).filter((column) => !isSame(column))
  const same = columnsOf(run)
    .filter(isSame)
    .map(({ title, text }) => `${title} ${text(run.steps[0]!)}`)
  const head = columns.map((c) => `<th class="${c.align}">${escapeMarkup(heading(c))}</th>`)
  const body = run.steps.map((step) => {
    const cells = columns.map((c) => `<td class="${c.align}">${escapeMarkup(c.text(step))}</td>`)
    return `<tr>${cells.join('')}</tr>`
  })
  const reasons = run.steps.filter((step) => step.reason)
  const why =
    reasons.length > 0
      ? `<h2>Reasons</h2>${definitions(reasons.map((step) => [pointText(step), step.reason] as const))}`
      : ''
  return (
    `<h2>Every step <small>${same.join(', ')}</small></h2><div class="wide"><table class="steps"><thead><tr>${head.join('')}</tr></thead>` +
    `<tbody>${body.join('\n')}</tbody></table></div>${why}${run.steps.map(failures).join('')}`
  )
}

export function runToHtml(run: Run): string {
  const { title } = captionOf(run, 'blockscope')
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeMarkup(title)}</title>
<style>${reportStyle}</style></head>
<body>
<header><span><strong>blockscope</strong> report</span><span>${escapeMarkup(run.createdAt.slice(0, 16).replace('T', ' '))} UTC · ${escapeMarkup(run.id)}</span></header>
<h1>${escapeMarkup(title.replace(/^blockscope: /, ''))}${run.device ? ` on ${escapeMarkup(run.device.name)}` : ''}</h1>
${banner(run)}
${keyFacts(run)}
${reportMatrix(run)}
${charts(run)}
${underSteps(run)}${modelTimes(run)}
<h2>Command</h2>
<pre>$ ${escapeMarkup(run.command)}</pre>
${method(run)}
${everyStep(run)}
<footer><span>One file, no network: every figure is inside; the raw run is run.json.</span><span>${escapeMarkup(run.id)}</span></footer>
</body>
</html>
`
}
