import type { Run, Step } from '../contract/run'
import { dispositionWords, outcomeOf, verdictWords } from '../measurement/outcome'
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
    ...unfinished(run),
    '</testsuites>',
    ''
  ].join('\n')
}

/** A run that did not do what was planned, or judged nothing, is no pass, whatever its steps say. */
function unfinished(run: Run): string[] {
  const { verdict, sentence } = outcomeOf(run)
  if (verdict !== 'incomplete' && verdict !== 'nothing') return []
  const message = escapeMarkup(`${verdictWords[verdict]}: ${sentence}. ${run.reason}`.trimEnd())
  return [
    '  <testsuite name="run" tests="1" failures="1" errors="0" skipped="0">',
    '    <testcase classname="run" name="all planned steps were judged">',
    `      <failure message="${message}"/>`,
    '    </testcase>',
    '  </testsuite>'
  ]
}

/** What is wrong, what could not be run, and what was not. */
const resultOf = ({ disposition }: Step): 'failure' | 'error' | 'skipped' | undefined => {
  switch (disposition) {
    case 'passed':
      return undefined
    case 'incorrect':
      return 'failure'
    case 'error':
      return 'error'
    default:
      return 'skipped'
  }
}

function counts(steps: readonly Step[]): string {
  const having = (outcome: string) => steps.filter((step) => resultOf(step) === outcome).length
  const seconds = steps.reduce((sum, step) => sum + step.seconds, 0)
  return (
    `tests="${steps.length}" failures="${having('failure')}" errors="${having('error')}" ` +
    `skipped="${having('skipped')}" time="${seconds.toFixed(3)}"`
  )
}

function testCase(step: Step): string {
  const name = escapeMarkup(`${step.kernel} M=${step.m} N=${step.n} K=${step.k}`)
  const start = `    <testcase classname="${escapeMarkup(step.format)}" name="${name}" time="${step.seconds.toFixed(3)}"`
  const outcome = resultOf(step)
  if (!outcome) return `${start}/>`
  const message = escapeMarkup(step.reason || dispositionWords[step.disposition])
  return `${start}>\n      <${outcome} message="${message}"/>\n    </testcase>`
}
