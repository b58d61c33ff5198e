/**
 * How many blocks of a launch fit on one multiprocessor, which resource says so, and how its blocks fill the GPU in waves.
 *
 * Limits per compute capability: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; how registers,
 * warps and shared memory are handed out: NVIDIA's own calculator, cuda_occupancy.h of the CUDA toolkit. Of AMD GPUs, where a
 * warp is a wave and a multiprocessor a compute unit: LLVM 22, AMDGPUBaseInfo.cpp. Theoretical: what fits, not what runs.
 */
export interface Multiprocessor {
  threadsOfWarp: number
  /** Registers are handed out to whole warps in these units. */
  registerUnit: number
  warps: number
  blocks: number
  registers: number
  /** Bytes for all its blocks. */
  sharedMemory: number
  /** Bytes of shared memory that the driver keeps for itself in each block. */
  reservedSharedMemory: number
  /** Bytes in whose multiples shared memory is handed out. */
  sharedMemoryUnit: number
}

const kib = 1024
const limits = (warps: number, blocks: number, sharedKiB: number): Multiprocessor => ({
  threadsOfWarp: 32,
  registerUnit: 256,
  warps,
  blocks,
  registers: 65_536,
  sharedMemory: sharedKiB * kib,
  reservedSharedMemory: kib,
  sharedMemoryUnit: 128
})
const before80 = { reservedSharedMemory: 0, sharedMemoryUnit: 256 }

const byCapability: Readonly<Record<string, Multiprocessor>> = {
  '7.0': { ...limits(64, 32, 96), ...before80 },
  '7.2': { ...limits(64, 32, 96), ...before80 },
  '7.5': { ...limits(32, 16, 64), ...before80 },
  '8.0': limits(64, 32, 164),
  '8.6': limits(48, 16, 100),
  '8.7': limits(48, 16, 164),
  '8.9': limits(48, 24, 100),
  '9.0': limits(64, 32, 228),
  '10.0': limits(64, 32, 228),
  '10.3': limits(64, 32, 228),
  '11.0': limits(48, 24, 228),
  '12.0': limits(48, 24, 100),
  '12.1': limits(48, 24, 100)
}

/** Four SIMDs of 8 waves, each with 512 vector registers a lane, AGPRs among them. */
const cdna = (sharedKiB: number, sharedMemoryUnit: number): Multiprocessor => ({
  threadsOfWarp: 64,
  registerUnit: 8 * 64,
  warps: 32,
  blocks: 16,
  registers: 4 * 512 * 64,
  sharedMemory: sharedKiB * kib,
  reservedSharedMemory: 0,
  sharedMemoryUnit
})

const byAmdArchitecture: Readonly<Record<string, Multiprocessor>> = {
  gfx90a: cdna(64, 512),
  gfx942: cdna(64, 512),
  gfx950: cdna(160, 1280)
}

/** Of 'sm_90', 'sm_90a', 'sm_120f' or 'gfx950'; undefined for an architecture that is in neither table. */
export function multiprocessorOf(architecture: string): Multiprocessor | undefined {
  if (Object.hasOwn(byAmdArchitecture, architecture)) return byAmdArchitecture[architecture]
  const found = /^sm_(\d+)(\d)[a-z]?$/.exec(architecture)
  return found ? byCapability[`${found[1]}.${found[2]}`] : undefined
}

export interface LaunchShape {
  /** Threads of a block. */
  threads: number
  registersPerThread: number
  /** Static and dynamic, bytes of a block. */
  sharedMemoryBytes: number
}

export type Resource = 'registers' | 'shared memory' | 'warps' | 'blocks'

export interface ResourceLimit {
  resource: Resource
  /** Blocks of this launch that it allows on a multiprocessor at once. */
  blocks: number
  /** What one block takes of it, and what there is: registers, bytes, warps, blocks. */
  needs: number
  of: number
}

export interface Occupancy {
  blocksPerMultiprocessor: number
  warpsPerBlock: number
  activeWarps: number
  maxWarps: number
  /** activeWarps / maxWarps */
  share: number
  /** Every resource, as the calculator knows them. */
  limits: readonly ResourceLimit[]
  /** Those that allow the fewest. */
  limiters: readonly Resource[]
}

/** A multiprocessor's register file and its warp slots are in four parts. */
const parts = 4

const roundUp = (value: number, unit: number): number => Math.ceil(value / unit) * unit

export function occupancyOf(launch: LaunchShape, of: Multiprocessor): Occupancy {
  const warpsPerBlock = Math.ceil(launch.threads / of.threadsOfWarp)
  const registersOfWarp = roundUp(launch.registersPerThread * of.threadsOfWarp, of.registerUnit)
  const warpsByRegisters =
    registersOfWarp > 0 ? Math.floor(of.registers / parts / registersOfWarp) * parts : of.warps
  const sharedOfBlock = roundUp(
    launch.sharedMemoryBytes + of.reservedSharedMemory,
    of.sharedMemoryUnit
  )
  const fit = (there: number, each: number) => (each > 0 ? Math.floor(there / each) : of.blocks)
  const found: ResourceLimit[] = [
    {
      resource: 'registers',
      blocks: fit(warpsByRegisters, warpsPerBlock),
      needs: registersOfWarp * warpsPerBlock,
      of: of.registers
    },
    {
      resource: 'shared memory',
      blocks: fit(of.sharedMemory, sharedOfBlock),
      needs: sharedOfBlock,
      of: of.sharedMemory
    },
    {
      resource: 'warps',
      blocks: fit(of.warps, warpsPerBlock),
      needs: warpsPerBlock,
      of: of.warps
    },
    { resource: 'blocks', blocks: of.blocks, needs: 1, of: of.blocks }
  ]
  const blocks = Math.min(...found.map((limit) => limit.blocks))
  return {
    blocksPerMultiprocessor: blocks,
    warpsPerBlock,
    activeWarps: blocks * warpsPerBlock,
    maxWarps: of.warps,
    share: (blocks * warpsPerBlock) / of.warps,
    limits: found,
    limiters: found.filter((limit) => limit.blocks === blocks).map(({ resource }) => resource)
  }
}

export interface Waves {
  /** Blocks of the grid over what runs at once; 15.5 means 15 full waves and a half one. */
  waves: number
  /** Blocks that run at once on the whole GPU. */
  blocksAtOnce: number
  /** Blocks of the last wave; all of them where the grid divides. */
  lastBlocks: number
  /** Share of the time that the idle places of the last wave cost, were all blocks equally long. */
  tail: number
}

/** undefined where nothing fits or there is no grid. */
export function wavesOf(
  gridBlocks: number,
  blocksPerMultiprocessor: number,
  multiprocessors: number
): Waves | undefined {
  const blocksAtOnce = blocksPerMultiprocessor * multiprocessors
  if (!(blocksAtOnce > 0) || !(gridBlocks > 0)) return undefined
  const waves = gridBlocks / blocksAtOnce
  const whole = Math.ceil(waves)
  return {
    waves,
    blocksAtOnce,
    lastBlocks: gridBlocks - (whole - 1) * blocksAtOnce,
    tail: (whole - waves) / whole
  }
}
