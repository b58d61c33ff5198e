import type { Run, Step } from '../contract/run'
import { escapeMarkup } from './markup'

/** A run as JUnit XML, which CI systems show as a test report: a suite for each format, a case for each step. */
export function runToJunit(run: Run): string {
  const formats = [...new Set(run.steps.map((step) => step.format))]
  const suites = formats.map((format) => {
    const steps = run.steps.filter((step) => step.format === format)
    return [
      `  <testsuite name="${escapeMarkup(format)}" ${counts(steps)} timestamp="${escapeMarkup(run.createdAt)}">`,
      ...steps.map(testCase),
      '  </testsuite>'
    ].join('\n')
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escapeMarkup(`blockscope ${run.kind} ${run.id}`)}" ${counts(run.steps)}>`,
    ...suites,
    '</testsuites>',
    ''
  ].join('\n')
}

/** What is wrong, what could not be run, and what was not. */
const outcomeOf = ({
  disposition,
  baseline
}: Step): 'failure' | 'error' | 'skipped' | undefined => {
  switch (disposition) {
    case 'passed':
    case 'baseline':
      return undefined
    case 'incorrect':
      // Another operation may differ: that is no fault of it.
      return baseline ? 'skipped' : 'failure'
    case 'error':
      return 'error'
    default:
      return 'skipped'
  }
}

function counts(steps: readonly Step[]): string {
  const having = (outcome: string) => steps.filter((step) => outcomeOf(step) === outcome).length
  const seconds = steps.reduce((sum, step) => sum + step.seconds, 0)
  return (
    `tests="${steps.length}" failures="${having('failure')}" errors="${having('error')}" ` +
    `skipped="${having('skipped')}" time="${seconds.toFixed(3)}"`
  )
}

function testCase(step: Step): string {
  const name = escapeMarkup(`${step.kernel} M=${step.m} N=${step.n} K=${step.k}`)
  const start = `    <testcase classname="${escapeMarkup(step.format)}" name="${name}" time="${step.seconds.toFixed(3)}"`
  const outcome = outcomeOf(step)
  if (!outcome) return `${start}/>`
  const message = escapeMarkup(step.reason || step.disposition)
  return `${start}>\n      <${outcome} message="${message}"/>\n    </testcase>`
}
