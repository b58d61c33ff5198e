import type { Run, Step } from '../contract/run'
import { dispositionWords, outcomeOf, verdictWords } from '../measurement/outcome'
import { extentsName } from '../measurement/problemText'
import { junitXml, type JunitCase } from './junitSuites'

/** A run as JUnit XML: a suite for each format, a case for each step. */
export function runToJunit(run: Run): string {
  const cases = run.steps.map((step): JunitCase => ({
    suite: step.format,
    name: `${step.kernel} ${extentsName(step)}`,
    seconds: step.seconds,
    outcome: resultOf(step),
    message: step.reason || dispositionWords[step.disposition]
  }))
  return junitXml(`blockscope ${run.kind} ${run.id}`, run.createdAt, [...cases, ...unfinished(run)])
}

/** A run that did not do what was planned, or judged nothing, is no pass, whatever its steps say. */
function unfinished(run: Run): JunitCase[] {
  const { verdict, sentence } = outcomeOf(run)
  if (verdict !== 'incomplete' && verdict !== 'nothing') return []
  const message = `${verdictWords[verdict]}: ${sentence}. ${run.reason}`.trimEnd()
  const name = 'all planned steps were judged'
  return [{ suite: 'run', name, seconds: 0, outcome: 'failure', message }]
}

/** What is wrong, what could not be run, and what was not. */
const resultOf = ({ disposition }: Step): JunitCase['outcome'] => {
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
