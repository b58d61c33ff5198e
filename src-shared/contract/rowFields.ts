/** What fields of a kernel manifest are made of, and the words for what is wrong with one. */
import * as v from 'valibot'

export const object = <E extends v.ObjectEntries>(entries: E) =>
  v.strictObject(entries, (issue) =>
    issue.expected === 'never'
      ? 'is not known'
      : issue.received === 'undefined'
        ? 'is missing'
        : 'must be an object'
  )
export const text = v.string('must be text')
export const list = <S extends v.GenericSchema>(item: S) => v.array(item, 'must be a list')
export const choice = <const T extends readonly string[]>(words: T) =>
  v.picklist(words, `must be one of ${words.join(', ')}`)
export const wholeNumber = v.pipe(
  v.number('must be a whole number'),
  v.safeInteger('must be a whole number')
)
export const name = v.pipe(
  text,
  v.regex(/^[A-Za-z_]\w*$/, 'must be a name: letters, digits and underscores')
)

/** Text over the names of the problem, or a whole number; native/cuda/expression.h evaluates it, and choice/expression.ts. */
export const expression = v.pipe(
  v.union([text, wholeNumber], 'must be an expression: text or a whole number'),
  v.transform(String)
)
