/** What ptxas says of a build. */
import { expect, it, describe } from 'vitest'
import { diagnoseLog } from '@shared/machineCode/diagnose'
import { resourcesIn } from '@shared/machineCode/ptxasLog'

describe('what ptxas says', () => {
  it('spilled bytes by function', () => {
    const log = `ptxas info    : Function properties for multiply
    24 bytes stack frame, 20 bytes spill stores, 28 bytes spill loads
ptxas info    : Function properties for encode
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads`
    expect(resourcesIn(log).map(({ name, spilledBytes }) => [name, spilledBytes])).toEqual([
      ['multiply', 28],
      ['encode', 0]
    ])
    expect(diagnoseLog(log)).toEqual([
      { text: 'multiply spills 28 bytes of registers', function: 'multiply' }
    ])
  })

  it('registers and static shared memory', () => {
    const log = `ptxas info    : Function properties for multiply
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 8 bytes cumulative stack size, 1024 bytes smem`
    expect(resourcesIn(log)).toEqual([
      { name: 'multiply', registers: 168, stackBytes: 8, spilledBytes: 0, sharedBytes: 1024 }
    ])
  })

  it('serialised wgmma is told in its own words', () => {
    const log =
      'ptxas info : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized'
    expect(diagnoseLog(`a line\n${log}`)).toEqual([{ text: log }])
  })
})
