import { escapeMarkup } from './markup'

export interface JunitCase {
  /** Of its suite's name. */
  suite: string
  name: string
  seconds: number
  /** Absent: it passed. */
  outcome?: 'failure' | 'error' | 'skipped' | undefined
  message: string
}

/** Test cases as JUnit XML, which CI systems show as a test report; suites in the order of their first case. */
export function junitXml(name: string, timestamp: string, cases: readonly JunitCase[]): string {
  const suites = [...new Set(cases.map(({ suite }) => suite))].map((suite) => {
    const own = cases.filter((one) => one.suite === suite)
    return [
      `  <testsuite name="${escapeMarkup(suite)}" ${counts(own)} timestamp="${escapeMarkup(timestamp)}">`,
      ...own.map(testCase),
      '  </testsuite>'
    ].join('\n')
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escapeMarkup(name)}" ${counts(cases)}>`,
    ...suites,
    '</testsuites>',
    ''
  ].join('\n')
}

function counts(cases: readonly JunitCase[]): string {
  const having = (outcome: string) => cases.filter((one) => one.outcome === outcome).length
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0)
  return (
    `tests="${cases.length}" failures="${having('failure')}" errors="${having('error')}" ` +
    `skipped="${having('skipped')}" time="${seconds.toFixed(3)}"`
  )
}

function testCase({ suite, name, seconds, outcome, message }: JunitCase): string {
  const start = `    <testcase classname="${escapeMarkup(suite)}" name="${escapeMarkup(name)}" time="${seconds.toFixed(3)}"`
  if (!outcome) return `${start}/>`
  return `${start}>\n      <${outcome} message="${escapeMarkup(message)}"/>\n    </testcase>`
}
