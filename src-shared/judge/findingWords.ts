/** What findings say to people, wherever they are shown. */

/** `when`: the end of the sentence, 'the scales of A are not applied'. */
export const givesThisC = (when: string): string => `C is what these operands give when ${when}.`

interface Told {
  sentence: string
  alike: readonly string[]
}

/** Sentences of the findings; of a C that is wrong for no reason that is known, that. */
export function findingSentences(findings: readonly Told[], isRight: boolean): string[] {
  if (findings.length === 0) return isRight ? [] : ['No known mistake gives this C.']
  return findings.flatMap(({ sentence, alike }) => [
    sentence,
    ...alike.map((when) => `Or when ${when}.`)
  ])
}
