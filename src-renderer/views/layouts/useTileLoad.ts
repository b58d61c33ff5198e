/** Walking the loads of one tile: the tile that holds the selected scale, and the load that brings it. */
import { computed } from 'vue'
import { packedOffset, scaleAt } from '@shared/layouts/layout'
import {
  describeStep,
  mostTileScales,
  tileLoad,
  tileSpans,
  type LoadStep,
  type TileLoad
} from '@shared/layouts/tileLoad'
import { wholeNumber } from '../../ground/fields'
import { count } from '@shared/units'
import { columnsOf, fromAddress } from './layoutForm'
import { useLayouts } from './layoutsStore'
import { useTypedNumber } from './useTypedNumber'

const mostRows = 1024

export interface WalkedTile {
  load: TileLoad
  /** Which of the loads brings the selected scale. */
  step: number
  described: LoadStep
}

export function useTileLoad() {
  const view = useLayouts()
  const rows = computed(() => Math.max(1, fromAddress(view.params.blockM ?? '', 128, mostRows)))
  /** The default spans four blocks of 512 bytes. */
  const columns = computed(() =>
    Math.max(
      1,
      Math.ceil(fromAddress(view.params.blockK ?? '', 16 * view.block, 1_048_576) / view.block)
    )
  )
  const blockM = useTypedNumber(
    () => rows.value,
    (typed) => wholeNumber(typed, 'BLOCK_M', { min: 1, max: mostRows }),
    (value) => view.write({ blockM: value })
  )
  const blockK = useTypedNumber(
    () => columns.value * view.block,
    (typed) => {
      const { value, problem } = columnsOf(typed, view.format, 'BLOCK_K')
      return value === undefined ? { problem } : { value: value * view.block }
    },
    (value) => view.write({ blockK: value })
  )

  // The same tile holds many selections; only its place makes it new.
  const spansKey = computed(() => {
    const { rows: r, columns: c } = tileSpans(view.layout, view.shape, view.selected, {
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
    problem.value ? undefined : tileLoad(view.layout, view.shape, spans.value)
  )
  const walked = computed((): WalkedTile | undefined => {
    if (!load.value) return undefined
    const { row, column } = view.selected
    const byte = packedOffset(view.layout, view.shape, row, column)
    const step = load.value.steps.findIndex(([first, last]) => byte >= first && byte <= last)
    const described = describeStep(view.layout, view.shape, load.value, step)
    return { load: load.value, step, described }
  })

  function goTo(step: number): void {
    const bytes = load.value?.steps[step]
    if (!bytes) return
    const { row, column } = scaleAt(view.layout, view.shape, bytes[0])
    view.select({ row, column })
  }
  /** Extents of the tile in elements. */
  const tile = computed(() => ({ m: rows.value, k: columns.value * view.block }))
  return { blockM, blockK, tile, walked, problem, goTo }
}
