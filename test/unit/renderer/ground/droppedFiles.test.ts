import { expect, it } from 'vitest'
import { viewFor } from '../../../../src-renderer/ground/droppedFiles'
import { nvbenchGemm } from '../../../support/nvbenchGemm'

it("nvbench's JSON is a run where runs are, a profile elsewhere; a run is one everywhere", async () => {
  const dropped = (value: unknown) => ({
    files: [new File([JSON.stringify(value)], 'x.json')],
    inFolders: []
  })
  const nvbench = dropped(nvbenchGemm([{ tile: 't', k: 256, mean: 1e-5 }]))
  expect(await viewFor(nvbench, 'runs')).toBe('runs')
  expect(await viewFor(nvbench, 'profile')).toBe('profile')
  expect(await viewFor(dropped({ traceEvents: [] }), 'runs')).toBe('profile')
  expect(await viewFor(dropped({ formatVersion: 1 }), 'validate')).toBe('runs')
})
