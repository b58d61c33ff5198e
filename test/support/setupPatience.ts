/** vitest's own patience is a second. */
import { vi } from 'vitest'
import { patience } from './patience'

const waitFor = vi.waitFor
vi.waitFor = (callback, options) =>
  waitFor(callback, {
    timeout: patience,
    ...(typeof options === 'number' ? { timeout: options } : options)
  })
