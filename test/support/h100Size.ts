import type { DeviceSize } from '../../src-shared/choice/deviceFacts'

/** What a manifest's expressions may ask of an H100: multiprocessors, GB/s of memory. */
export const h100Size: DeviceSize = { processors: 132, memoryGbs: 3352 }
