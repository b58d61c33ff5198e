/**
 * What the layout inspector shows, for all its tabs: the layout, the matrix and the position stand in the address, so that
 * a link brings them back; bytes and descriptions, which are too long for that, stay for as long as the page.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import { blockFormats } from '@shared/formats/blockFormat'
import { paddedShape, paddedSize } from '@shared/layouts/layout'
import { go, lastAddress } from '../../ground/route'
import { noBytes, type ByteEntry } from './byteEntry'
import { clampPosition, type Position } from './inspect'
import { formatFrom, fromAddress, layoutFrom, readOwnLayout, shapeFrom } from './layoutForm'

export const layoutTabs = [
  { value: 'scales', title: 'Scales' },
  { value: 'loads', title: 'Tile load' },
  { value: 'compare', title: 'Compare, code' },
  { value: 'fragments', title: 'Fragments' },
  { value: 'codes', title: 'Codes in bytes' },
  { value: 'detect', title: 'Detect' }
] as const
export type LayoutTab = (typeof layoutTabs)[number]['value']

/** The tab an address means: a link that names a fragment or a code need not name the tab too. */
export function tabOf(params: Readonly<Record<string, string>>): LayoutTab {
  const named = layoutTabs.find(({ value }) => value === params.tab)
  if (named) return named.value
  if (params.mma || params.operand || params.bits) return 'fragments'
  if (params.codes || params.k) return 'codes'
  return 'scales'
}

export const useLayouts = defineStore('layouts', () => {
  /** Of this view, also while another one is shown. */
  const params = computed(() => lastAddress('layouts').params)

  /** '' takes a parameter out of the address. */
  function write(changed: Readonly<Record<string, string | number>>): void {
    const texts = Object.entries({ ...params.value, ...changed }).map(
      ([name, value]) => [name, String(value)] as const
    )
    go('layouts', Object.fromEntries(texts.filter(([, text]) => text !== '')), { replace: true })
  }
  const param = (name: string) =>
    computed({
      get: () => params.value[name] ?? '',
      set: (value: string) => write({ [name]: value })
    })

  const tab = computed({
    get: () => tabOf(params.value),
    set: (value: LayoutTab) => write({ tab: value })
  })

  /** The person's own layout stays in the address, so that a reload or a link brings it back. */
  const ownText = param('own')
  const own = computed(() => (ownText.value ? readOwnLayout(ownText.value).value : undefined))
  /** What is typed as a layout, good or not. */
  const ownTyped = ref(ownText.value)
  /** A file that holds none. */
  const ownUnreadable = ref<string>()

  const named = computed(() => layoutFrom(params.value.layout ?? '', own.value))
  const layout = computed(() => named.value.layout)
  const layoutName = computed({
    get: () => layout.value.name,
    set: (name: string) => write({ layout: name })
  })
  const layoutFlag = computed(() =>
    layout.value === own.value
      ? `--layout-file ${layout.value.name}.json`
      : `--layout ${layout.value.name}`
  )
  const format = computed(() => formatFrom(params.value.format ?? ''))
  const formatName = computed({
    get: () => format.value.id,
    set: (id: string) => write({ format: id })
  })
  const block = computed(() => format.value.scaleBlockSize)

  const shape = computed(() => shapeFrom(params.value.rows ?? '', params.value.cols ?? ''))
  /** Rows of each group, as typed: of the panel that draws where their scales begin. */
  const groups = param('groups')
  const padded = computed(() => paddedShape(layout.value, shape.value))
  const size = computed(() => paddedSize(layout.value, shape.value.rows, shape.value.columns))
  const selected = computed(() =>
    clampPosition(layout.value, shape.value, {
      row: fromAddress(params.value.row ?? '', 0, Number.MAX_SAFE_INTEGER),
      column: fromAddress(params.value.col ?? '', 0, Number.MAX_SAFE_INTEGER)
    })
  )
  const hovered = shallowRef<Position>()
  watch([layout, shape], () => (hovered.value = undefined))
  const select = ({ row, column }: Position) => write({ row, col: column })
  /** Selects a scale where it can be seen. */
  const show = ({ row, column }: Position) => write({ row, col: column, tab: 'scales' })

  const scaleBytes = shallowRef<ByteEntry>(noBytes)
  const packed = shallowRef<ByteEntry>(noBytes)
  const linear = shallowRef<ByteEntry>(noBytes)
  const operands = shallowRef<File>()
  const scale = ref<'ue4m3' | 'e8m0'>('ue4m3')
  watch(format, ({ scale: { name } }) => (scale.value = name === 'ue4m3' ? 'ue4m3' : 'e8m0'), {
    immediate: true
  })

  function typeOwn(text: string): void {
    ownTyped.value = text
    ownUnreadable.value = undefined
    const { value } = text.trim() === '' ? {} : readOwnLayout(text)
    if (value) write({ own: text, layout: value.name })
  }

  async function openOwn(file: File): Promise<void> {
    tab.value = 'compare'
    try {
      const text = await file.slice(0, 65_536).text()
      const { problem } = readOwnLayout(text, file.name)
      if (problem) ownUnreadable.value = problem
      else typeOwn(text)
    } catch {
      ownUnreadable.value = `${file.name} cannot be read; it may have been moved or changed. Open it again.`
    }
  }

  return {
    params,
    write,
    tab,
    own,
    ownText,
    ownTyped,
    ownUnreadable,
    typeOwn,
    openOwn,
    named,
    layout,
    layoutName,
    layoutFlag,
    format,
    formatName,
    block,
    shape,
    groups,
    padded,
    size,
    selected,
    hovered,
    select,
    show,
    scaleBytes,
    scale,
    packed,
    linear,
    operands
  }
})

export const formatChoices = blockFormats.map(({ id, scaleBlockSize }) => ({
  value: id,
  title: `${id}, V = ${scaleBlockSize}`
}))
