/** What a detection found, in words: the same on the command line and in the app. */
import type { Detection, Difference } from './detect'
import { defects, type NamedCandidate } from './detectCandidates'
import type { ProductDetection } from './detectProduct'
import type { ScaleShape } from './layout'

/** Of a detection by the linear scales. `bytes`: how many packed ones there are. */
export function detectionLines(found: Detection, bytes: number, shape: ScaleShape): string[] {
  const size = `${shape.rows} x ${shape.columns} scales`
  const share = `${(found.agreement * 100).toFixed(2)} %`
  const lines = verdictLines(found, bytes, {
    right: `all ${size} lie where it puts them`,
    none: 'No known layout.',
    nearly: `${share} of ${size} agree`
  })
  return [...lines, ...differenceLines(found)]
}

/** What depends on how it was judged. */
export interface Words {
  right: string
  none: string
  nearly: string
}

export function verdictLines(
  found: Detection | ProductDetection,
  bytes: number,
  words: Words
): string[] {
  const lines: string[] = []
  if (found.verdict === 'layout') lines.push(`${found.layout}: ${words.right}.`)
  else if (found.verdict === 'defect') {
    lines.push(`${found.layout} with a mistake: ${defects[found.defect!]}.`)
  } else {
    lines.push(`${words.none} The nearest is ${candidateName(found)}: ${words.nearly}.`)
    if (found.expectedBytes !== bytes) {
      lines.push(`It takes ${found.expectedBytes} bytes; there are ${bytes}.`)
    }
  }
  return [...lines, ...found.alike.map((other) => `The same bytes: ${candidateName(other)}.`)]
}

/** Where the bytes first leave the layout named; empty where they do not. */
export function differenceLines({
  layout,
  firstDifference: first
}: {
  layout: string
  firstDifference?: Difference
}): string[] {
  if (!first) return []
  return [
    `First difference from ${layout}: byte ${first.offset}, scale of row ${first.row}, column ${first.column}: ` +
      `expected ${first.expected}, found ${first.found}.`
  ]
}

export function candidateName({ layout, defect }: NamedCandidate): string {
  return defect ? `${layout} with ${defect}` : layout
}
