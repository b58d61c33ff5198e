/** Every kernel in every format, as rows and columns: what became of it, its error over the tolerance, its best rate. */
import { formatSymbol, symbolPath } from '../measurement/marks'
import type { Run, Step } from '../contract/run'
import { dispositionWords } from '../measurement/outcome'
import { missingReason } from '../measurement/shortReason'
import { toleranceShareOf } from '../measurement/validationFigures'
import { standingStep } from '../measurement/validationSummary'
import { digits, errorFigure, tick } from '../units'
import { escapeMarkup } from './markup'

const barWidth = 44

/** The error as a bar that ends at the tolerance, which is the mark. */
function errorBar(share: number, tone: 'pass' | 'fail'): string {
  const width = Math.min(1, share) * (barWidth - 4)
  return (
    `<svg class="${tone}" width="${barWidth}" height="10" viewBox="0 0 ${barWidth} 10" role="img" ` +
    `aria-label="error ${errorFigure(share)} of the tolerance">` +
    `<rect y="3" width="${barWidth - 4}" height="4" style="fill:var(--line)"/>` +
    `<rect y="3" width="${Number(width.toFixed(1))}" height="4" fill="currentColor"/>` +
    `<rect x="${barWidth - 4}" width="1" height="10" style="fill:var(--text-2)"/></svg>`
  )
}

function cell(
  step: Step | undefined,
  withSpeed: boolean,
  missing: ReturnType<typeof missingReason>
): string {
  const speed = (text: string) => (withSpeed ? `<td class="right">${text}</td>` : '')
  if (!step) {
    const title = missing.reason === '' ? '' : ` title="${escapeMarkup(missing.reason)}"`
    return `<td class="dim"${title}>${escapeMarkup(missing.words) || '–'}</td>${speed('')}`
  }
  const { validation, measurement, disposition, reason } = step
  const rate = measurement ? `${digits(measurement.tflops)}` : ''
  if (disposition === 'baseline')
    return `<td class="dim">reference</td>${speed(`<span class="dim">${rate}</span>`)}`
  const share = validation && toleranceShareOf(validation)
  const words = dispositionWords[disposition]
  if (disposition !== 'passed' && disposition !== 'incorrect')
    return `<td class="dim" title="${escapeMarkup(reason)}">${words}</td>${speed(rate)}`
  const tone = disposition === 'passed' ? 'pass' : 'fail'
  const sign = `<span class="${tone}">${tone === 'pass' ? '✓' : '✗'}</span>`
  const bar = share === undefined || !Number.isFinite(share) ? words : errorBar(share, tone)
  const figure = share === undefined ? '' : errorFigure(share)
  return `<td><span class="cell">${sign}${bar}<span class="dim">${figure}</span></span></td>${speed(`<strong>${rate}</strong>`)}`
}

export function reportMatrix(run: Run): string {
  const formats = [...new Set(run.steps.map(({ format }) => format))]
  // What computes something else stands last, as in the page.
  const byKind = [...run.steps].sort((a, b) => Number(a.baseline) - Number(b.baseline))
  const kernels = [...new Set(byKind.map(({ kernel }) => kernel))]
  if (kernels.length === 0) return ''
  const withSpeed = run.steps.some(({ measurement }) => measurement)
  const ks = new Set(run.steps.map(({ k }) => k))
  const head = formats.map(
    (format) =>
      `<th><svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">` +
      `<path d="${symbolPath(formatSymbol(format))}" style="fill:var(--text-2)" fill-rule="evenodd"/></svg> ` +
      `<code>${escapeMarkup(format)}</code></th>${withSpeed ? '<th class="right">TFLOP/s</th>' : ''}`
  )
  const rows = kernels.map((kernel) => {
    const cells = formats.map((format) =>
      cell(
        standingStep(run.steps.filter((step) => step.kernel === kernel && step.format === format)),
        withSpeed,
        missingReason(run.device, kernel, format)
      )
    )
    return `<tr><th scope="row"><code>${escapeMarkup(kernel)}</code></th>${cells.join('')}</tr>`
  })
  const note =
    ks.size > 1
      ? `bar: largest error, mark: tolerance; of ${tick(ks.size)} values of K the fastest, or what failed`
      : 'bar: largest error, mark: tolerance'
  return (
    `<h2>Every kernel, every format <small>${note}</small></h2>` +
    `<div class="wide"><table><thead><tr><th>kernel</th>${head.join('')}</tr></thead>` +
    `<tbody>${rows.join('')}</tbody></table></div>`
  )
}
