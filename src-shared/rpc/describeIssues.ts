import * as v from 'valibot'

const shownIssues = 3
const longestMessage = 300

/** What does not fit a schema, field by field, as one sentence: "m: Invalid type: Expected number but received "x"". */
export function describeIssues(issues: readonly v.BaseIssue<unknown>[]): string {
  const shown = issues.slice(0, shownIssues).map((issue) => {
    const path = v.getDotPath(issue)
    const message =
      issue.message.length > longestMessage
        ? `${issue.message.slice(0, longestMessage)}...`
        : issue.message
    return path ? `${path}: ${message}` : message
  })
  const more = issues.length - shown.length
  return shown.join('; ') + (more > 0 ? `; and ${more} more` : '')
}
