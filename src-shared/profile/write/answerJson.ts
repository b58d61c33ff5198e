import type { Answer } from '../ask/ask'
import { inBoth, isGone, isNew } from '../ask/diffTrees'

/** An answer for scripts: metrics, and per row its values, with the reason where there is none. */
export function answerJson(answer: Answer): object {
  const { tree, columns, rows, nameOf } = answer
  return {
    metrics: columns.map((column) => column.label),
    rows: Array.from(rows, (node) => {
      const values: [string, unknown][] = []
      const missing: [string, string][] = []
      for (const { label, text, values: column, reason } of columns) {
        const value = text ? text(node) || null : Number.isNaN(column[node]) ? null : column[node]
        values.push([label, value])
        if (value === null) missing.push([label, reason(node)])
      }
      return {
        name: nameOf(node),
        depth: tree.depth[node],
        metrics: Object.fromEntries(values),
        ...(missing.length > 0 && { missing: Object.fromEntries(missing) })
      }
    })
  }
}

const stateNames = { [inBoth]: 'both', [isNew]: 'new', [isGone]: 'gone' }

/** A comparison for scripts, of its first metric: per row the value in each profile, change, ratio and state. */
export function comparisonJson(files: readonly string[], answer: Answer): object {
  const { diff } = answer.comparison!
  const number = (value: number) => (Number.isFinite(value) ? value : null)
  return {
    files,
    metric: diff.metric,
    rows: Array.from(answer.rows, (node) => ({
      name: answer.nameOf(node),
      depth: diff.tree.depth[node],
      values: diff.values.map((values) => number(values[node]!)),
      change: number(diff.change[node]!),
      ratio: number(diff.ratio[node]!),
      state: stateNames[diff.state[node] as 0 | 1 | 2],
      noise: [null, 'within', 'beyond'][diff.noise[node]!]
    }))
  }
}
