import { createPinia, setActivePinia } from 'pinia'
import { expect, it, onTestFinished } from 'vitest'
import { createApp, nextTick } from 'vue'
import ReadingProgress from '../../../../src-renderer/components/ReadingProgress.vue'
import { useProfile } from '../../../../src-renderer/stores/profile'

it('says what is read, how many bytes of how many, and shows the share as a bar', async () => {
  const pinia = createPinia()
  setActivePinia(pinia)
  const place = document.createElement('div')
  const app = createApp(ReadingProgress).use(pinia)
  app.mount(place)
  onTestFinished(() => app.unmount())
  expect(place.textContent).toBe('')
  Object.assign(useProfile(), { reading: 'step.json', readingBytes: 2 ** 31, fraction: 0.25 })
  await nextTick()
  expect(place.querySelector('[role="status"]')!.textContent).toMatch(
    /Reading step\.json\s*512 MiB of 2\.00 GiB/
  )
  expect(place.querySelector('[role="progressbar"]')!.getAttribute('aria-valuenow')).toBe('25')
  useProfile().fraction = 1
  await nextTick()
  expect(place.textContent).toContain('Building the tree')
})
