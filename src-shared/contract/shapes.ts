/** Products that a model is made of: explicit shapes, each with how often it is done. */
import * as v from 'valibot'
import {
  groupLayouts,
  groupsSchema,
  mostGroups,
  rowsOfAll,
  usualAlignment,
  type Groups,
  type Shaped
} from './groups'

const extent = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_048_576))
/** As many as one sweep may have. */
export const mostShapeRows = 10_000

const shapeRowFields = v.strictObject({
  /** 'qkv', 'expert down'. */
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  /** Of one group, the largest, where there are several. */
  m: extent,
  n: extent,
  k: extent,
  /** Products of this shape beside one another, as the experts of a layer are. */
  groups: v.optional(extent, 1),
  /** They are one grouped product, and how their rows stand; absent: products of their own, one after the other. */
  layout: v.optional(v.picklist(groupLayouts)),
  /** Rows of each group, m or fewer; absent: each has m. */
  rows: v.optional(
    v.pipe(v.array(v.pipe(v.number(), v.integer(), v.minValue(0))), v.maxLength(mostGroups))
  ),
  /** Of contiguous segments. */
  alignment: v.optional(extent),
  /** How often the model does it in one step: its layers. 0: it is measured and counts for nothing. */
  weight: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0)), 1),
  /** Tokens of the step that it is of; rows of one number of tokens are summed together. */
  tokens: v.optional(extent)
})
export type ShapeRow = v.InferOutput<typeof shapeRowFields>

/** Lists of shapes that come with the program, each of several models. */
export const bundledListNames = ['llm-layers', 'deepgemm-grouped'] as const
export type BundledList = (typeof bundledListNames)[number]
export const isBundledList = (name: string): name is BundledList =>
  (bundledListNames as readonly string[]).includes(name)

export const shapeRowSchema = v.pipe(
  shapeRowFields,
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed && problemOfRow(dataset.value)
    if (message) addIssue({ message })
  })
)

/** What is wrong with the groups of a row, in a sentence; undefined: nothing. */
function problemOfRow(row: ShapeRow): string | undefined {
  const { m, groups, layout, rows, alignment } = row
  if (!layout)
    return (rows ?? alignment) === undefined
      ? undefined
      : `rows and alignment are of groups that stand together: name their layout, one of ${groupLayouts.join(', ')}`
  if (rows && rows.length !== groups)
    return `there are ${groups} groups, and rows of ${rows.length}: they do not add up`
  const over = rows?.findIndex((count) => count > m) ?? -1
  if (over >= 0) return `group ${over} has ${rows![over]!} rows, more than its m of ${m}`
  const parsed = v.safeParse(groupsSchema, asGroups(row))
  return parsed.success ? undefined : parsed.issues[0].message
}

const asGroups = ({ m, groups, layout, rows, alignment = usualAlignment }: ShapeRow) => ({
  layout,
  rows: rows ?? Array.from({ length: groups }, () => m),
  ...{ alignment, maxRows: layout === 'masked' ? m : 0 }
})

/** What is timed for a row: its groups as one product where they stand together, else one of them. */
export function productOf(row: ShapeRow): Shaped {
  const { m, n, k } = row
  if (!row.layout) return { m, n, k }
  const groups = v.parse(groupsSchema, asGroups(row))
  return { m: rowsOfAll(groups), n, k, groups }
}

/** A row that is this product. */
export function rowOf(name: string, { m, n, k, groups }: Shaped): ShapeRow {
  if (!groups) return { name, m, n, k, groups: 1, weight: 1 }
  const { layout, rows, alignment, maxRows } = groups
  return {
    ...{ name, m: Math.max(maxRows, ...rows), n, k, groups: rows.length, weight: 1 },
    ...{ layout, rows, ...(layout === 'contiguous' && { alignment }) }
  }
}

/** Experts of a model as one grouped product each, in this layout. */
export const withGroupLayout = (
  rows: readonly ShapeRow[],
  layout: Groups['layout'] | undefined
): ShapeRow[] => rows.map((row) => (layout && row.groups > 1 ? { ...row, layout } : row))

export const shapesSchema = v.strictObject({
  /** Where the rows come from: a bundled model's name, or a file's path. */
  source: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
  /** What rows of a model were made for, or which rows of a list these are; absent: all of a list. */
  tokens: v.optional(v.array(extent)),
  tp: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1024))),
  /** That the experts of a model were given. */
  groupLayout: v.optional(v.picklist(groupLayouts)),
  rows: v.pipe(
    v.array(shapeRowSchema),
    v.minLength(1, 'Name at least one shape.'),
    v.maxLength(mostShapeRows)
  )
})
export type Shapes = v.InferOutput<typeof shapesSchema>
