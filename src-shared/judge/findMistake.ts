/** Names the mistake that gives a wrong product. */
import { givesThisC } from './findingWords'
import { finishOf, wrongFinishes, type Finish } from './finish'
import { mistakesWith, type Mistake } from './mistakes'
import { readingsOf, type JudgedOperands } from './operandReading'
import { roundingModeOf } from './roundingMode'
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
} from './sampledProduct'
import { findUnwritten, type Rectangle } from './unwritten'

export interface Finding {
  /** What kind of mistake, for programs: 'scale-order', 'unwritten', 'rounding', ... */
  kind: string
  /** One sentence for people. */
  sentence: string
  /** Share of the sampled elements that agree with C under this finding, 0..1. */
  agrees: number
  /** Other mistakes that give the same sample. */
  alike: string[]
}

export interface Judgement {
  /** Share of the sampled elements that the operands give as they are, 0..1. */
  agrees: number
  sampled: number
  findings: Finding[]
}

/** Rows and columns of the first look, which most mistakes do not outlast, and of the second. */
const [firstLook, secondLook] = [10, 40]

/**
 * Looks at a sample of C (M, N), spread over it and through `suspects`, the elements known to be wrong. No finding for a C
 * that is right; none for a wrong one whose mistake is not among those that are known. `output`: the type of C, where it is
 * known; absent: as its values are.
 */
export function findMistake(
  operands: JudgedOperands,
  product: Product,
  suspects: readonly { row: number; col: number }[] = [],
  output?: string
): Judgement {
  const { m, n, k } = operands
  const result = resultToJudge(product, n, k, output)
  const finish = finishOf(operands)
  const right = readingsOf(operands)
  const looks = [firstLook, secondLook].map((count) => sampleOf(m, n, count, suspects))
  const asGiven = compareSample(right, result, looks[1]!, finish)
  const agrees = agreement(asGiven, result)
  const judged = (findings: (Finding | undefined)[]): Judgement => ({
    ...{ agrees, sampled: asGiven.length },
    findings: findings.filter((finding) => finding !== undefined)
  })
  if (agrees < 1) {
    const all = readingFinding(operands, result, looks, finish, agrees, () => true)
    if (all) return judged([all])
  }
  const hole = findUnwritten(product, m, n)
  const isWritten = (element: Compared) => !isWithin(element, hole)
  const rest = asGiven.filter(isWritten)
  const restAgrees = agreement(rest, result)
  const inHole = asGiven.filter((element) => isWithin(element, hole))
  // A rectangle of zeros where the operands give zeros is none.
  const isHole = hole && (inHole.length === 0 || agreement(inHole, result) < 0.5)
  const unwritten = isHole ? unwrittenFinding(hole, m, n, restAgrees) : undefined
  if (rest.length === 0 || restAgrees === 1) return judged([unwritten])
  const ofRest =
    roundingFinding(rest, result) ??
    finishFinding(operands, result, looks[1]!, isWritten) ??
    factorFinding(rest, result, operands) ??
    (hole && readingFinding(operands, result, looks, finish, restAgrees, isWritten))
  // NaN that a kernel read beyond its scales is not what nobody wrote.
  const isRead = ofRest?.kind === 'scale-order' && Number.isNaN(hole?.value)
  return judged([isRead ? undefined : unwritten, ofRest])
}

function roundingFinding(
  compared: readonly Compared[],
  result: ResultToJudge
): Finding | undefined {
  const found = roundingModeOf(compared, result)
  if (!found || found.mode === 'nearest') return undefined
  return {
    kind: 'rounding',
    sentence:
      found.mode === 'to either neighbour'
        ? 'C holds neighbours of the exact values and is not rounded to nearest, nor in one direction: stochastic rounding, or a lost bit.'
        : `C is rounded ${found.mode}, not to nearest.`,
    agrees: found.agrees,
    alike: []
  }
}

function sampleOf(
  m: number,
  n: number,
  count: number,
  suspects: readonly { row: number; col: number }[]
): Sample {
  const few = suspects.slice(0, Math.ceil(count / 4))
  return {
    rows: [...new Set([...spread(m, count), ...few.map(({ row }) => row)])],
    columns: [...new Set([...spread(n, count), ...few.map(({ col }) => col)])]
  }
}

const isWithin = ({ row, column }: Compared, hole: Rectangle | undefined) =>
  hole !== undefined &&
  row >= hole.rows.start &&
  row < hole.rows.end &&
  column >= hole.columns.start &&
  column < hole.columns.end

function unwrittenFinding(hole: Rectangle, m: number, n: number, agrees: number): Finding {
  const [rows, columns] = [hole.rows, hole.columns].map(({ start, end }) => end - start)
  const isAll = rows === m && columns === n
  const where = `rows ${hole.rows.start} to ${hole.rows.end - 1}, columns ${hole.columns.start} to ${hole.columns.end - 1}`
  return {
    kind: 'unwritten',
    sentence: isAll
      ? `C is ${hole.value} everywhere: nothing was written.`
      : hole.full
        ? `A tile of ${rows} x ${columns} of C was not written: ${where} hold ${hole.value}.`
        : `Several tiles of C were not written: they hold ${hole.value}, all within ${where}.`,
    agrees,
    alike: []
  }
}

/** The sums are right, and what is done to them is not. */
function finishFinding(
  operands: JudgedOperands,
  result: ResultToJudge,
  look: Sample,
  isCounted: (element: Compared) => boolean
): Finding | undefined {
  const right = readingsOf(operands)
  const tried = [...wrongFinishes(operands)].map(({ finish, ...named }) => {
    const compared = compareSample(right, result, look, finish).filter(isCounted)
    return { ...named, agrees: agreement(compared, result) }
  })
  const best = Math.max(...tried.map(({ agrees }) => agrees))
  const [named, ...alike] = tried.filter(({ agrees }) => agrees === best)
  if (!named || best < enough) return undefined
  return {
    kind: named.kind,
    sentence: givesThisC(named.when),
    agrees: best,
    alike: alike.map(({ when }) => when)
  }
}

/** C is the right product times one number. */
function factorFinding(
  compared: readonly Compared[],
  result: ResultToJudge,
  { format }: JudgedOperands
): Finding | undefined {
  const ratios = compared
    .filter(({ exact, found }) => exact !== 0 && Number.isFinite(found / exact))
    .sort((x, y) => Math.abs(x.exact) - Math.abs(y.exact))
    .slice(-Math.ceil(compared.length / 4))
    .map(({ found, exact }) => found / exact)
    .sort((x, y) => x - y)
  const median = ratios[ratios.length >> 1]
  if (median === undefined || median === 0) return undefined
  const exponent = Math.log2(Math.abs(median))
  const nearest = Math.round(exponent)
  const isPower = Math.abs(exponent - nearest) < 2 ** -7 && nearest !== 0
  const factor = isPower ? Math.sign(median) * 2 ** nearest : median
  if (Math.abs(factor - 1) < 2 ** -7) return undefined
  const scaled = compared.map((element) => ({
    ...element,
    exact: element.exact * factor,
    magnitude: element.magnitude * Math.abs(factor)
  }))
  const agrees = agreement(scaled, result)
  if (agrees < enough) return undefined
  const bias = format.scale.name === 'e8m0' ? ', as a wrong bias of the scales gives it' : ''
  return {
    kind: 'factor',
    sentence: isPower
      ? `C is 2^${nearest} times what these operands give${bias}.`
      : `C is ${median.toPrecision(4)} times what these operands give: a scale of the whole product is missing or wrong.`,
    agrees,
    alike: []
  }
}

function readingFinding(
  operands: JudgedOperands,
  result: ResultToJudge,
  [first, second]: readonly Sample[],
  finish: Finish,
  asGiven: number,
  isCounted: (element: Compared) => boolean
): Finding | undefined {
  const found: { mistake: Mistake; agrees: number }[] = []
  for (const mistake of mistakesWith(operands)) {
    const agrees = (sample: Sample) =>
      agreement(compareSample(mistake, result, sample, finish).filter(isCounted), result)
    if (agrees(first!) < 0.9) continue
    const share = agrees(second!)
    if (share >= enough && 1 - share < (1 - asGiven) / 2) found.push({ mistake, agrees: share })
  }
  const best = Math.max(...found.map(({ agrees }) => agrees))
  const [named, ...alike] = found.filter(({ agrees }) => agrees === best)
  if (!named) return undefined
  return {
    kind: named.mistake.kind,
    sentence: givesThisC(named.mistake.when),
    agrees: best,
    alike: alike.map(({ mistake }) => mistake.when)
  }
}
