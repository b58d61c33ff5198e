/** Counts of instructions by family: each under the name people know it by. */

export interface InstructionFamily {
  name: string
  pattern: RegExp
  /** That there is none is good news, which is told too. */
  toldAtZero?: true
}

export interface InstructionCount {
  name: string
  count: number
}

export const countFamilies = (
  texts: readonly string[],
  families: readonly InstructionFamily[]
): InstructionCount[] =>
  families.flatMap(({ name, pattern, toldAtZero }) => {
    const count = texts.filter((text) => pattern.test(text)).length
    return count > 0 || toldAtZero ? [{ name, count }] : []
  })
