/** vitest's own patience is a second. */
import { vi } from 'vitest'
import { patience } from './patience'

/** Files that share a worker share `vi`. */
const known = vi as typeof vi & { isPatient?: boolean }
if (!known.isPatient) {
  const waitFor = vi.waitFor
  known.isPatient = true
  known.waitFor = (callback, options) =>
    waitFor(callback, {
      timeout: patience,
      ...(typeof options === 'number' ? { timeout: options } : options)
    })
}
