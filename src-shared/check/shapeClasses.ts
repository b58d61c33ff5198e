/** In which class of shapes a kernel fails: aiter#2900 (K % 256), rocm-libraries#12232 (M % 32), TransformerEngine#2956. */

export interface ShapeVerdict {
  m: number
  n: number
  k: number
  isRight: boolean
}

interface ShapeClass {
  /** 'K % 256 != 0' */
  name: string
  has(shape: ShapeVerdict): boolean
}

const axes = ['m', 'n', 'k'] as const
/** Multiples that tiles, scale tiles and instructions have. */
const multiples = [256, 128, 64, 32, 16]

const classes: readonly ShapeClass[] = axes.flatMap((axis) => {
  const name = axis.toUpperCase()
  return [
    { name: `${name} = 1`, has: (shape: ShapeVerdict) => shape[axis] === 1 },
    ...multiples.map((multiple) => ({
      name: `${name} % ${multiple} != 0`,
      has: (shape: ShapeVerdict) => shape[axis] % multiple !== 0
    })),
    ...multiples.map((multiple) => ({
      name: `${name} % ${multiple} = 0`,
      has: (shape: ShapeVerdict) => shape[axis] % multiple === 0
    }))
  ]
})

export interface ShapeClassReport {
  /** Classes that hold all that are wrong and none that is right; likeliest first. */
  wrongWhere: string[]
  wrong: number
  right: number
  /** Classes that no shape is in, by which kernels fail. */
  untested: string[]
}

/** Shapes of which it is worth saying what they leave out. */
const study = 4

/** Undefined for fewer than two shapes. */
export function shapeClasses(shapes: readonly ShapeVerdict[]): ShapeClassReport | undefined {
  const distinct = new Set(shapes.map(({ m, n, k }) => `${m} ${n} ${k}`))
  if (distinct.size < 2) return undefined
  const [right, wrong] = [true, false].map((is) => shapes.filter(({ isRight }) => isRight === is))
  const splits =
    right!.length > 0 && wrong!.length > 0
      ? classes.filter(({ has }) => wrong!.every(has) && !right!.some(has))
      : []
  const ofInterest = classes.filter(({ name }) => /% (256|128|32) != 0|^M = 1$/.test(name))
  return {
    wrongWhere: splits.map(({ name }) => name),
    wrong: wrong!.length,
    right: right!.length,
    untested:
      distinct.size < study
        ? []
        : ofInterest.filter(({ has }) => !shapes.some(has)).map(({ name }) => name)
  }
}

/** What the classes say, in sentences. */
export function shapeSentences(report: ShapeClassReport | undefined): string[] {
  if (!report) return []
  const { wrongWhere, wrong, right, untested } = report
  const [first, ...others] = wrongWhere
  const also = others.length > 0 ? ` These shapes do not tell it from ${others.join(', ')}.` : ''
  return [
    ...(first
      ? [`Shapes: wrong where ${first} (${wrong} of ${wrong}), right elsewhere (${right}).${also}`]
      : []),
    ...(untested.length > 0 ? [`Shapes: none with ${untested.join(', ')}.`] : [])
  ]
}
