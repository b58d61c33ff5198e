import { useTimeoutFn } from '@vueuse/core'
import { watch } from 'vue'
import { messageOf } from '@shared/errors'
import { commandRange, rangeOf } from '@shared/profile/lanes/rangeText'
import { useParam } from '../../ground/route'
import { useMessages } from '../../stores/messages'
import type { useTimeline } from '../../stores/timeline'

interface Range {
  startNs: number
  endNs: number
}

interface Shown {
  /** Whether the profile that the address is of is open. */
  isReady: () => boolean
  lengthNs: () => number
  /** Brings a range into sight. */
  show: (range: Range) => void
}

const restMs = 150

/** The selected range and `range=` of the address, which say the same: `showRange` takes it from there once a profile is open. */
export function useRangeAddress(
  timeline: ReturnType<typeof useTimeline>,
  { isReady, lengthNs, show }: Shown
) {
  const messages = useMessages()
  const param = useParam('range')
  /** What the address named when the view was shown, until the profile it is of is open: taking a range writes there. */
  let wanted = param.value
  const said = () => (timeline.range ? commandRange(timeline.range) : '')

  function showRange(): void {
    if (!isReady()) return
    const text = wanted
    wanted = ''
    if (text === '') {
      param.value = said()
      return
    }
    try {
      const range = rangeOf(text, lengthNs())
      timeline.setRange(range)
      show(range)
    } catch (error) {
      messages.say(messageOf(error))
      param.value = ''
    }
  }

  // Once the range stands still: who reads the address reads it anew with each writing. Not when another view is shown by then.
  const { start: writeSoon } = useTimeoutFn(
    () => {
      if (timeline.info && isReady()) param.value = said()
    },
    restMs,
    { immediate: false }
  )
  watch(
    () => timeline.range,
    () => writeSoon()
  )
  // An address that is followed while the view is shown.
  watch(param, (text) => {
    if (text === said()) return
    if (text === '') return timeline.setRange(undefined)
    wanted = text
    if (timeline.info) showRange()
  })
  return { showRange }
}
