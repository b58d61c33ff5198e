import { expect, it, onTestFinished } from 'vitest'
import { createApp, h, nextTick, ref } from 'vue'
import ReadingProgress from '../../../../src-renderer/components/ReadingProgress.vue'

it('says what is read, how many bytes of how many, and shows the share as a bar', async () => {
  const fraction = ref(0.25)
  let cancelled = 0
  const place = document.createElement('div')
  const app = createApp(() =>
    h(ReadingProgress, {
      name: 'step.json',
      bytes: 2 ** 31,
      fraction: fraction.value,
      onCancel: () => cancelled++
    })
  )
  app.mount(place)
  onTestFinished(() => app.unmount())
  expect(place.querySelector('[role="status"]')!.textContent).toMatch(
    /Reading step\.json\s*512 MiB of 2\.00 GiB/
  )
  expect(place.querySelector('[role="progressbar"]')!.getAttribute('aria-valuenow')).toBe('25')
  place.querySelector('button')!.click()
  expect(cancelled).toBe(1)
  fraction.value = 1
  await nextTick()
  expect(place.textContent).toContain('Building the tree')
})
