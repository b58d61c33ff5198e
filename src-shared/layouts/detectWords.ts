/** What a detection found, in words: the same on the command line and in the app. */
import type { Detection, Difference } from './detect'
import { defectWords, type NamedCandidate } from './detectCandidates'
import type { ProductDetection } from './detectProduct'
import type { ScaleShape } from './layout'

/** Of a detection by the linear scales. `bytes`: how many packed ones there are. */
export function detectionLines(found: Detection, bytes: number, shape: ScaleShape): string[] {
  const size = `${shape.rows} x ${shape.columns} scales`
  const share = `${(found.agreement * 100).toFixed(2)} %`
  if (found.verdict === 'length') return lengthLines(found, bytes, shape)
  const lines = verdictLines(found, bytes, {
    right: `all ${size} lie where it puts them`,
    none: 'No known layout.',
    nearly: `${share} of ${size} agree`
  })
  return [...lines, ...differenceLines(found)]
}

function lengthLines(found: Detection, bytes: number, { rows, columns }: ScaleShape): string[] {
  const { expectedBytes, agreement, alike } = found
  const scales = rows * columns
  const name = candidateName(found)
  const how =
    bytes > expectedBytes
      ? `all ${rows} x ${columns} scales lie where it puts them, and ${bytes - expectedBytes} bytes follow that it has no use for`
      : `${Math.round(agreement * scales)} of ${rows} x ${columns} scales lie where it puts them, and the rest is cut off`
  return [
    `${name}: the order is right and the length is not: ${how}.`,
    `It takes ${expectedBytes} bytes; there are ${bytes}.`,
    ...alike.map((other) => `The same bytes: ${candidateName(other)}.`)
  ]
}

/** Of a detection by a product. `rows`: how many the operand of `side` has. */
export function productLines(
  found: ProductDetection,
  bytes: number,
  { side, rows }: { side: 'a' | 'b'; rows: number }
): string[] {
  const { agreeingRows, testedRows, relativeError, untested, firstRow } = found
  const name = side.toUpperCase()
  const tested = testedRows === rows ? `all ${rows}` : `${testedRows} of ${rows}`
  const lines = verdictLines(found, bytes, {
    right: `it gives the product of ${tested} rows of ${name}`,
    none: 'No known layout gives this product.',
    nearly: `${agreeingRows} of ${testedRows} rows of ${name} agree, relative error ${relativeError.toExponential(1)}`
  })
  lines.push(...differenceLines(found))
  if (firstRow !== undefined && !found.firstDifference) {
    lines.push(`The product first differs in row ${firstRow} of ${name}.`)
  }
  if (found.verdict === 'nearest') {
    for (const other of untested) {
      lines.push(
        `Not tested, as the rows of the product are too short for it: ${candidateName(other)}.`
      )
    }
  }
  return lines
}

/** What depends on how it was judged. */
interface Words {
  right: string
  none: string
  nearly: string
}

function verdictLines(found: Detection | ProductDetection, bytes: number, words: Words): string[] {
  const lines: string[] = []
  if (found.verdict === 'layout') lines.push(`${candidateName(found)}: ${words.right}.`)
  else if (found.verdict === 'defect') {
    lines.push(`${found.layout} with a mistake: ${defectWords[found.defect!]}.`)
  } else {
    lines.push(`${words.none} The nearest is ${candidateName(found)}: ${words.nearly}.`)
    if (found.expectedBytes !== bytes) {
      lines.push(`It takes ${found.expectedBytes} bytes; there are ${bytes}.`)
    }
  }
  return [...lines, ...found.alike.map((other) => `The same bytes: ${candidateName(other)}.`)]
}

/** Where the bytes first leave the layout named; empty where they do not. */
function differenceLines({
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

function candidateName({ layout, defect, padded }: NamedCandidate): string {
  if (padded) return `${layout}, padded to ${padded.rows} x ${padded.columns}`
  return defect ? `${layout} with ${defect}` : layout
}
