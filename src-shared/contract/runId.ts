import * as v from 'valibot'

/**
 * A run's id is the name of its folder in the store: nothing that leads out of it, hides, or reads as a flag. Every id that
 * comes from a file or over a wire is parsed by this.
 */
export const runIdSchema = v.pipe(
  v.string(),
  v.regex(
    /^\w[\w.-]*$/,
    'a run id is expected: letters, digits, dots, dashes and underscores, no dot or dash first'
  ),
  v.maxLength(200, 'a run id of at most 200 characters is expected')
)

export const isRunId = (text: string): boolean => v.is(runIdSchema, text)
