/** Walking the loads of one tile: the tile that holds the selected scale, and the load that brings it. */
import { computed, type Ref } from 'vue'
import type { BlockFormat } from '@shared/formats/blockFormat'
import { packedOffset, scaleAt, type ScaleLayout, type ScaleShape } from '@shared/layouts/layout'
import {
  describeStep,
  mostTileScales,
  tileLoad,
  tileSpans,
  type LoadStep,
  type TileLoad
} from '@shared/layouts/tileLoad'
import { wholeNumber } from '../../app/fields'
import { useParam } from '../../app/route'
import { count } from '../../format/units'
import type { Position } from './inspect'
import { columnsOf, fromAddress } from './layoutForm'
import { useTypedNumber } from './useTypedNumber'

const mostRows = 1024

export interface WalkedTile {
  load: TileLoad
  /** Which of the loads brings the selected scale. */
  step: number
  described: LoadStep
}

export function useTileLoad(
  layout: Ref<ScaleLayout>,
  shape: Ref<ScaleShape>,
  format: Ref<BlockFormat>,
  selected: Ref<Position>,
  select: (at: Position) => void
) {
  const onParam = useParam('loads')
  const on = computed({
    get: () => onParam.value === '1',
    set: (value) => (onParam.value = value ? '1' : '')
  })
  const rowsParam = useParam('blockM')
  const kParam = useParam('blockK')
  const block = computed(() => format.value.scaleBlockSize)
  const rows = computed(() => Math.max(1, fromAddress(rowsParam.value, 128, mostRows)))
  /** The default spans four blocks of 512 bytes. */
  const columns = computed(() =>
    Math.max(1, Math.ceil(fromAddress(kParam.value, 16 * block.value, 1_048_576) / block.value))
  )
  const blockM = useTypedNumber(
    () => rows.value,
    (typed) => wholeNumber(typed, 'BLOCK_M', { min: 1, max: mostRows }),
    (value) => (rowsParam.value = String(value))
  )
  const blockK = useTypedNumber(
    () => columns.value * block.value,
    (typed) => {
      const { value, problem } = columnsOf(typed, format.value, 'BLOCK_K')
      return value === undefined ? { problem } : { value: value * block.value }
    },
    (value) => (kParam.value = String(value))
  )

  // The same tile holds many selections; only its place makes it new.
  const spansKey = computed(() => {
    const { rows: r, columns: c } = tileSpans(layout.value, shape.value, selected.value, {
      rows: rows.value,
      columns: columns.value
    })
    return [...r, ...c].join(',')
  })
  const spans = computed(() => {
    const [r0, r1, c0, c1] = spansKey.value.split(',').map(Number)
    return { rows: [r0!, r1!] as [number, number], columns: [c0!, c1!] as [number, number] }
  })
  const scales = computed(() => {
    const { rows: r, columns: c } = spans.value
    return (r[1] - r[0] + 1) * (c[1] - c[0] + 1)
  })
  const problem = computed(() =>
    scales.value > mostTileScales
      ? `The tile has ${count(scales.value)} scales; up to ${count(mostTileScales)} can be walked. Take a smaller BLOCK_M or BLOCK_K.`
      : undefined
  )
  const load = computed(() =>
    on.value && !problem.value ? tileLoad(layout.value, shape.value, spans.value) : undefined
  )
  const walked = computed((): WalkedTile | undefined => {
    if (!load.value) return undefined
    const { row, column } = selected.value
    const byte = packedOffset(layout.value, shape.value, row, column)
    const step = load.value.steps.findIndex(([first, last]) => byte >= first && byte <= last)
    const described = describeStep(layout.value, shape.value, load.value, step)
    return { load: load.value, step, described }
  })

  function goTo(step: number): void {
    const bytes = load.value?.steps[step]
    if (!bytes) return
    const { row, column } = scaleAt(layout.value, shape.value, bytes[0])
    select({ row, column })
  }
  return { on, blockM, blockK, walked, problem, goTo }
}
