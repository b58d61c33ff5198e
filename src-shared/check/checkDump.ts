/** The verdict on one dump. */
import { counted, percent } from '../units'
import { isScaled } from '../formats/numberFormat'
import { findingSentences, givesThisC } from '../judge/findingWords'
import { finishOf } from '../judge/finish'
import { findMistake, type Finding } from '../judge/findMistake'
import { judgeBatch } from '../judge/judgeBatch'
import { readingsOf, type Side } from '../judge/operandReading'
import {
  agreement,
  compareSample,
  enough,
  resultToJudge,
  spread,
  type Compared,
  type Product,
  type ResultToJudge,
  type Sample
} from '../judge/sampledProduct'
import type { Dump, DumpMatrix } from './dump'
import { quantizerFinding } from './quantizer'
import { scalesShown, type Passes } from './sensitivity'

/** right: every element that was looked at is what the operands give; shows-nothing: it is, and would be with scales mapped wrongly. */
export type DumpVerdict = 'right' | 'wrong' | 'shows-nothing'

export interface DumpReport {
  path: string
  format: string
  m: number
  n: number
  k: number
  batch: number[]
  output: string
  verdict: DumpVerdict
  elements: number
  lookedAt: number
  /** Of those looked at. */
  wrong: number
  /** Elements of all of C that are NaN. */
  nan: number
  findings: Finding[]
  /** Share of C, 0..1, that a damaged mapping of the scales would change; absent for an operand of one scale. */
  scalesShow: { a?: number; b?: number }
  /** Whether the tolerance that was given lets this C pass. */
  passesTolerance?: boolean
  notes: string[]
}

export interface Tolerance {
  atol: number
  rtol: number
}

/** Elements and terms that a look takes at most; more are sampled on a grid over C. */
const [mostElements, mostTerms] = [2 ** 18, 2 ** 28]
const mostSuspects = 16

export function checkDump(dump: Dump, tolerance?: Tolerance): DumpReport {
  const { path, format, m, n, k, batch, output, matrices, notes } = dump
  const looks = matrices.map((matrix) => lookAt(matrix, output, matrices.length))
  const all = looks.flatMap(({ compared }) => compared)
  const wrong = looks.flatMap((look) => look.wrong)
  const nan = matrices.reduce((sum, { product }) => sum + countNan(product), 0)
  const findings = [...(wrong.length > 0 ? mistakes(dump, looks) : []), ...quantizerFindings(dump)]
  const passes: Passes | undefined =
    tolerance &&
    ((found, exact) => Math.abs(found - exact) <= tolerance.atol + tolerance.rtol * Math.abs(exact))
  const scalesShow = {
    ...shown(matrices, 'a', passes),
    ...shown(matrices, 'b', passes)
  }
  const isSilent = scalesShow.a === 0 || scalesShow.b === 0
  return {
    ...{ path, format: format.id, m, n, k, batch, output, notes, findings, scalesShow, nan },
    verdict:
      wrong.length > 0 || findings.length > 0 ? 'wrong' : isSilent ? 'shows-nothing' : 'right',
    elements: matrices.reduce((sum, { product }) => sum + product.length, 0),
    lookedAt: all.length,
    wrong: wrong.length,
    ...(passes && {
      passesTolerance: all.every(({ found, exact, magnitude }) => passes(found, exact, magnitude))
    })
  }
}

interface Look {
  matrix: DumpMatrix
  result: ResultToJudge
  sample: Sample
  compared: Compared[]
  wrong: Compared[]
}

function lookAt(matrix: DumpMatrix, output: string, matrices: number): Look {
  const { operands, product } = matrix
  const { m, n, k } = operands
  const result = resultToJudge(product, n, k, output)
  const most = Math.min(mostElements, mostTerms / k) / matrices
  const share = Math.min(1, Math.sqrt(most / (m * n)))
  const sample = {
    rows: spread(m, Math.max(2, Math.floor(m * share))),
    columns: spread(n, Math.max(2, Math.floor(n * share)))
  }
  const right = readingsOf(operands)
  const compared = compareSample(right, result, sample, finishOf(operands))
  const wrong = compared.filter(
    ({ found, exact, magnitude }) => !result.rounding.agrees(found, exact, magnitude)
  )
  return { matrix, result, sample, compared, wrong }
}

function mistakes(dump: Dump, looks: readonly Look[]): Finding[] {
  const misread = looks.flatMap(misreadFinding)
  if (misread.length > 0) return joined(looks, misread)
  const values = looks.length === 1 ? valuesFinding(dump, looks[0]!) : undefined
  if (values) return [values]
  const suspects = (look: Look, batch: number) =>
    look.wrong.slice(0, mostSuspects).map(({ row, column }) => ({ batch, row, col: column }))
  if (dump.whole) {
    const { operands, product } = dump.whole
    return judgeBatch(
      operands,
      product,
      looks.flatMap((look, at) => suspects(look, at)),
      dump.output
    ).findings
  }
  const found = looks.map((look) =>
    look.wrong.length === 0
      ? []
      : findMistake(look.matrix.operands, look.matrix.product, suspects(look, 0), dump.output)
          .findings
  )
  return joined(
    looks,
    found.flatMap((findings, at) => findings.map((finding) => ({ look: looks[at]!, finding })))
  )
}

interface Found {
  look: Look
  finding: Finding
}

/** One finding for all groups that have it. */
function joined(looks: readonly Look[], found: readonly Found[]): Finding[] {
  const wrong = looks.filter((look) => look.wrong.length > 0)
  const sentences = [...new Set(found.map(({ finding }) => finding.sentence))]
  return sentences.map((sentence) => {
    const having = found.filter(({ finding }) => finding.sentence === sentence)
    const labels = having.map(({ look }) => look.matrix.label).filter(Boolean)
    const agrees = Math.min(...having.map(({ finding }) => finding.agrees))
    const isAll = having.length === wrong.length && wrong.length === looks.length
    return {
      ...having[0]!.finding,
      agrees,
      sentence: isAll || labels.length === 0 ? sentence : `In ${labels.join(', ')}: ${sentence}`
    }
  })
}

function misreadFinding(look: Look): Found[] {
  if (look.wrong.length === 0) return []
  const { operands, misread } = look.matrix
  for (const { kind, when, aScales } of misread) {
    const read = { ...operands, aScales }
    const readings = readingsOf(read)
    const agrees = agreement(
      compareSample(readings, look.result, look.sample, finishOf(operands)),
      look.result
    )
    if (agrees < enough) continue
    return [{ look, finding: { kind, sentence: givesThisC(when), agrees, alike: [] } }]
  }
  return []
}

/** Whether C was made of the values themselves: another kernel than the one of the codes ran (sglang#23625). */
function valuesFinding({ values }: Dump, { matrix, result, sample }: Look): Finding | undefined {
  const { a, b } = values
  if (!a && !b) return undefined
  const { operands } = matrix
  const right = readingsOf(operands)
  const isBoth = a !== undefined && b !== undefined
  const finish = finishOf(operands)
  const { tensorScaleA = 1, tensorScaleB = 1 } = operands
  const readings = {
    a: a ? { ...right.a, valuesOfRow: rowOf(a, operands.k) } : right.a,
    b: b ? { ...right.b, valuesOfRow: rowOf(b, operands.k) } : right.b
  }
  const factor = (a ? 1 : tensorScaleA) * (b ? 1 : tensorScaleB)
  const compared = compareSample(readings, result, sample, { ...finish, factor })
  const agrees = agreement(compared, result)
  if (agrees < enough) return undefined
  const of = isBoth ? 'A and B' : a ? 'A' : 'B'
  return {
    ...{ kind: 'not-quantised', agrees, alike: [] },
    sentence: `C is the product of ${of} before quantisation: a fallback ran instead of the kernel of these codes.`
  }
}

const rowOf = (values: Float64Array, k: number) => (row: number) =>
  values.subarray(row * k, (row + 1) * k)

function quantizerFindings({ values, whole, format }: Dump): Finding[] {
  if (!whole) return []
  const { operands } = whole
  const { aCodes, bCodes, aScales, bScales, tensorScaleA, tensorScaleB } = operands
  const of = [
    values.a &&
      isScaled(format.a) && {
        ...{ side: 'a' as const, values: values.a, codes: aCodes, scales: aScales },
        ...(tensorScaleA !== undefined && { tensorScale: tensorScaleA })
      },
    values.b && {
      ...{ side: 'b' as const, values: values.b, codes: bCodes, scales: bScales },
      ...(tensorScaleB !== undefined && { tensorScale: tensorScaleB })
    }
  ]
  return of.flatMap((operand) => (operand ? (quantizerFinding({ format, ...operand }) ?? []) : []))
}

/** Of a few matrices the one that shows most: one test that can fail is enough. */
function shown(
  matrices: readonly DumpMatrix[],
  side: Side,
  passes: Passes | undefined
): { a?: number; b?: number } {
  const shares = spread(matrices.length, 3)
    .map((at) => scalesShown(matrices[at]!, side, passes))
    .filter((share) => share !== undefined)
  return shares.length === 0 ? {} : { [side]: Math.max(...shares) }
}

function countNan(values: Product): number {
  let count = 0
  for (const value of values) if (Number.isNaN(value)) count++
  return count
}

/** What a report says beside its figures, in sentences. */
export function reportSentences(report: DumpReport): string[] {
  const { verdict, findings, nan, wrong, scalesShow, passesTolerance } = report
  const silent = (['a', 'b'] as const)
    .filter((side) => scalesShow[side] === 0)
    .map((side) => side.toUpperCase())
  return [
    ...findingSentences(findings, wrong === 0),
    ...(nan > 0 ? [`${counted(nan, 'element')} of C are NaN.`] : []),
    ...(wrong > 0 && passesTolerance
      ? ['The tolerance lets this C pass: it is too wide to show this mistake.']
      : []),
    ...(silent.length > 0
      ? [
          `Scales of ${silent.join(' and of ')} mapped to other blocks or rows would give the same C: ` +
            (verdict === 'shows-nothing'
              ? 'this dump cannot show a damaged mapping; take scales that differ.'
              : 'it cannot show a damaged mapping of theirs.')
        ]
      : [])
  ]
}

/** '98 %' */
export const shownText = (share: number | undefined): string =>
  share === undefined ? '-' : percent(share)
