import * as v from 'valibot'

/** NaN and infinities, which JSON has no numbers for, are written as the strings 'NaN', 'Infinity', '-Infinity'. */
export const anyNumber = v.union([
  v.number(),
  v.nan(),
  v.pipe(v.picklist(['NaN', 'Infinity', '-Infinity']), v.transform(Number))
])
