/** What does not fit a schema, in words for people: the one place that reads a schema library's issues. */
import * as v from 'valibot'

const shownIssues = 3
const longestText = 100

/** Field by field, as one sentence without its full stop: 'm: a number is expected, not "x"'. `nameOf`: how a field is called there. */
export function describeIssues(
  issues: readonly v.BaseIssue<unknown>[],
  nameOf: (path: string) => string = (path) => path
): string {
  const shown = issues.slice(0, shownIssues).map((issue) => {
    const path = v.getDotPath(issue)
    return path === null ? words(issue) : `${nameOf(path)}: ${words(issue)}`
  })
  const more = issues.length - shown.length
  return shown.join('; ') + (more > 0 ? `; and ${more} more` : '')
}

function words(issue: v.BaseIssue<unknown>): string {
  // A message of the schema's own is for people already.
  if (!/^Invalid [a-z ]+: /.test(issue.message)) return issue.message.replace(/\.$/, '')
  if (issue.received === 'undefined' && issue.kind === 'schema') return 'it is missing'
  if (issue.expected === 'never') return 'nothing of this name is known here'
  const expected = expectation(issue)
  return `${expected} is expected, not ${shortened(issue.received)}`
}

const kinds: Record<string, string> = {
  string: 'text',
  number: 'a number',
  nan: 'a number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  strict_tuple: 'a list',
  instance: 'binary data',
  integer: 'a whole number',
  safe_integer: 'a whole number',
  finite: 'a finite number'
}

function expectation({ type, expected, requirement }: v.BaseIssue<unknown>): string {
  switch (type) {
    case 'min_value':
      return `a number of at least ${String(requirement)}`
    case 'gt_value':
      return `a number above ${String(requirement)}`
    case 'max_value':
      return `a number of at most ${String(requirement)}`
    case 'min_length':
      return `a length of at least ${String(requirement)}`
    case 'max_length':
      return `a length of at most ${String(requirement)}`
    case 'picklist':
    case 'literal':
    case 'union':
    case 'variant':
      return oneOf(expected ?? '')
    default:
      return kinds[type] ?? (/object|record/.test(type) ? 'an object' : 'something else')
  }
}

/** '("cold" | "hot")' as 'cold or hot'; types among the alternatives by their names. */
function oneOf(expected: string): string {
  const alternatives = expected.replace(/^\((.*)\)$/, '$1').split(' | ')
  const named = alternatives.map((text) => kinds[text] ?? text.replace(/^"(.*)"$/, '$1'))
  const unique = [...new Set(named)]
  return unique.length < 2
    ? unique.join('')
    : `${unique.slice(0, -1).join(', ')} or ${unique.at(-1)}`
}

const shortened = (received: string) =>
  received.length > longestText ? `${received.slice(0, longestText)}...` : received
