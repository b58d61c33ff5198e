import type { Run, Step } from '../contract/run'
import { columnsOf, figure, heading } from './table'
import { outcomeOf, verdictWords } from '../measurement/outcome'
import { ruleOf } from '../measurement/validationFigures'
import { escapeMarkup } from './markup'

const style = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent) }
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 78rem; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .75rem; text-align: left }
.right { text-align: right }
code { font-family: ui-monospace, monospace }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem }
dd { margin: 0 }`

function definitions(rows: [string, string][]): string {
  const items = rows
    .filter(([, value]) => value !== '')
    .map(([term, value]) => `<dt>${escapeMarkup(term)}</dt><dd>${escapeMarkup(value)}</dd>`)
  return `<dl>${items.join('')}</dl>`
}

const hex = (codes: number[]) => codes.map((c) => c.toString(16).padStart(2, '0')).join(' ')

function failures(step: Step): string {
  const list = step.validation?.failures ?? []
  if (list.length === 0) return ''
  const rows = list.map(
    (f) =>
      `<tr><td class="right">${f.row}</td><td class="right">${f.col}</td>` +
      `<td class="right">${figure(f.got)}</td><td class="right">${figure(f.reference)}</td>` +
      `<td class="right">${f.block}</td><td><code>${hex(f.aCodes)} x ${hex([f.aScale])}</code></td>` +
      `<td><code>${hex(f.bCodes)} x ${hex([f.bScale])}</code></td></tr>`
  )
  return (
    `<h3>${escapeMarkup(step.format)} ${escapeMarkup(step.kernel)}: first failing elements</h3>` +
    '<table><tr><th>row</th><th>column</th><th>got</th><th>reference</th><th>scale block</th>' +
    `<th>A codes x scale</th><th>B codes x scale</th></tr>${rows.join('')}</table>`
  )
}

/** A report that stands alone: one HTML file without scripts or links. */
export function runToHtml(run: Run): string {
  const columns = columnsOf(run)
  const { verdict, sentence } = outcomeOf(run)
  const judged = run.steps.find((step) => step.validation)?.validation
  const head = columns
    .map((c) => `<th class="${c.align}">${escapeMarkup(heading(c))}</th>`)
    .join('')
  const body = run.steps
    .map((step) => {
      const cells = columns.map((c) => `<td class="${c.align}">${escapeMarkup(c.text(step))}</td>`)
      return `<tr>${cells.join('')}</tr>`
    })
    .join('\n')
  const reasons = run.steps.filter((step) => step.reason)
  const title = `blockscope: ${run.kind} ${run.label || run.id}`
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeMarkup(title)}</title><style>${style}</style></head>
<body>
<h1>${escapeMarkup(title)}</h1>
<p><strong>${verdictWords[verdict]}</strong>: ${escapeMarkup(sentence)}. ${escapeMarkup(run.reason)}</p>
${definitions([
  ['Device', run.device ? `${run.device.name} (${run.device.architecture})` : ''],
  ['Started', run.createdAt],
  ['Finished', run.finishedAt ?? ''],
  ['Command', run.command],
  ['Seed', String(run.spec.seed)],
  ['Operands', run.spec.distribution],
  ['Output type', run.spec.output],
  ['What passes', judged ? ruleOf(judged) : ''],
  ['Blockscope', run.appVersion],
  ['Host', `${run.host.name}, ${run.host.system}`],
  ['Notes', run.notes]
])}
<table><tr>${head}</tr>
${body}
</table>
${reasons.length > 0 ? '<h2>Reasons</h2>' + definitions(reasons.map((s) => [`${s.format} ${s.kernel} K=${s.k}`, s.reason])) : ''}
${run.steps.map(failures).join('\n')}
</body>
</html>
`
}
