/**
 * The one TypeScript description of the native addon (native/addon). Field for field it mirrors native/core/backend.h,
 * where shapes, units and meanings are documented. Times are nanoseconds unless the name says otherwise.
 *
 * Every rejected promise carries a NativeError.
 */
export interface NativeBinding {
  readonly version: string
  /** Kernel sources and cache folder; called once before anything else. Throws TypeError on wrong types. */
  configure(options: NativeOptions): void
  detect(): Promise<NativeDetection>
  createCancelFlag(): NativeCancelFlag
  open(
    request: NativeOpenRequest,
    cancel: NativeCancelFlag,
    onProgress?: NativeProgress
  ): Promise<NativeSession>
  /** Number formats as the native side knows them, for agreement tests: every code's value. */
  decodeTable(numberFormat: string): Float32Array
  /** Codes of float32 values; `saturate` or `ml_dtypes` overflow rule. */
  encode(numberFormat: string, values: Float32Array, overflow: string): Uint8Array
  /** The scale layouts known in C++, written out as layoutText in src-shared/layouts/describe.ts does. */
  layouts(): string[]
  /**
   * Packed offset of every (row, col) of a linear rows x cols scale matrix, row-major. Here and below `layout` is a name or
   * a layout written out; rows and cols are at most 32768.
   */
  layoutOffsets(layout: string, rows: number, cols: number): Int32Array
  /** The inverse: row * cols + col of the scale at every packed offset, -1 where there is padding. */
  layoutIndices(layout: string, rows: number, cols: number): Int32Array
  packScales(layout: string, rows: number, cols: number, linear: Uint8Array): Uint8Array
  unpackScales(layout: string, rows: number, cols: number, packed: Uint8Array): Uint8Array
  /**
   * Packed fp4 (rows, columns = K / 2) to the Hopper value swizzle and back (src-shared/layouts/hopperValue.ts). Throws on
   * an MMA version other than 2 and 3, and on another number of bytes.
   */
  packHopperValues(
    mmaVersion: number,
    rows: number,
    columns: number,
    packed: Uint8Array
  ): Uint8Array
  unpackHopperValues(
    mmaVersion: number,
    rows: number,
    columns: number,
    swizzled: Uint8Array
  ): Uint8Array
  /** Names of the element packings known in C++ (src-shared/layouts/elementPacking.ts). */
  elementPackings(): string[]
  /** Codes, one a byte, to a packing, and back. Throws on an unknown name and on codes that fill no whole group. */
  packElements(packing: string, codes: Uint8Array): Uint8Array
  unpackElements(packing: string, packed: Uint8Array): Uint8Array
}

export type NativeProgress = (fraction: number, phase: string) => void

/** Same as ErrorKind in native/core/backend.h. */
export type NativeErrorCode = 'usage' | 'unavailable' | 'device' | 'compile' | 'cancelled'

export interface NativeError extends Error {
  code: NativeErrorCode
}

export interface NativeCancelFlag {
  cancel(): void
}

export interface NativeOptions {
  kernelSources: NativeKernelSource[]
  cacheDirectory: string
}

export interface NativeKernelSource {
  id: string
  provider: string
  summary: string
  file: string
  manifestJson: string
}

export interface NativeDetection {
  libraries: NativeLibrary[]
  devices: NativeDevice[]
}

export interface NativeLibrary {
  name: string
  found: boolean
  version: string
  path: string
  reason: string
  remedy: string
}

export type CapabilityLevel = 'native' | 'exact' | 'approximate' | 'unavailable'

export interface NativeDevice {
  id: string
  kind: string
  name: string
  architecture: string
  properties: Record<string, boolean | number | string>
  kernels: NativeKernel[]
}

export interface NativeKernel {
  id: string
  provider: string
  summary: string
  scaleLayout: string
  baseline: boolean
  sourceHash: string
  compileOptions: string
  capabilities: { format: string; level: CapabilityLevel; reason: string }[]
}

export type OutputType = 'f16' | 'bf16' | 'f32' | 'e4m3'

export interface NativeOpenRequest {
  device: string
  format: string
  m: number
  n: number
  k: number
  batch?: number
  output: OutputType
  operands: NativeGeneratedOperands | NativeGivenOperands
}

export interface NativeGeneratedOperands {
  distribution: string
  /** Unsigned, below 2^53. */
  seed: number
}

export interface NativeGivenOperands extends NativeOperands {
  reference?: Float64Array
}

export interface NativeOperands {
  aCodes: Uint8Array
  bCodes: Uint8Array
  aScales: Uint8Array
  bScales: Uint8Array
  tensorScaleA?: number
  tensorScaleB?: number
}

export interface NativeSession {
  validate(
    request: NativeValidateRequest,
    cancel: NativeCancelFlag,
    onProgress?: NativeProgress
  ): Promise<NativeValidation>
  judge(
    output: Uint8Array,
    request: NativeValidateRequest,
    cancel: NativeCancelFlag,
    onProgress?: NativeProgress
  ): Promise<NativeValidation>
  measure(
    request: NativeMeasureRequest,
    cancel: NativeCancelFlag,
    onProgress?: NativeProgress
  ): Promise<NativeMeasurement>
  operands(): Promise<NativeOperands>
  reference(cancel: NativeCancelFlag, onProgress?: NativeProgress): Promise<Float64Array>
  /** Frees the operands; the session is dead afterwards. Waits for a call in flight. */
  close(): Promise<void>
}

export interface NativeValidateRequest {
  kernel: string
  atol: number
  rtol: number
  maxFailures: number
  mapTiles: number
}

export interface NativeFailedElement {
  batch: number
  row: number
  col: number
  got: number
  reference: number
  absoluteError: number
  block: number
  aCodes: Uint8Array
  bCodes: Uint8Array
  aScale: number
  bScale: number
}

export interface NativePerturbation {
  passed: boolean
  row: number
  block: number
  reason: string
}

export interface NativeValidation {
  status: 'passed' | 'incorrect' | 'proves-nothing'
  reason: string
  elements: number
  elementsOutside: number
  nonFinite: number
  maxAbs: number
  maxRel: number
  normwise: number
  maxScaled: number
  referenceRms: number
  referenceNonZero: number
  ulpHistogram: number[]
  errorMap: Float32Array
  mapRows: number
  mapCols: number
  tileRows: number
  tileCols: number
  failures: NativeFailedElement[]
  perturbationA: NativePerturbation
  perturbationB: NativePerturbation
  oracle: string
  oracleSeconds: number
  kernelSeconds: number
}

export interface NativeMeasureRequest {
  kernel: string
  cold: boolean
  warmupNs: number
  minSamples: number
  minTimeNs: number
  maxRelativeStdev: number
  maxSamples: number
  timeoutNs: number
  fixedSamples: number
  sustainedNs: number
  recordLaunches: boolean
}

export interface NativeLaunch {
  name: string
  startNs: number
  endNs: number
  stream: number
  grid: [number, number, number]
  block: [number, number, number]
  registersPerThread: number
  sharedMemoryBytes: number
}

export interface NativeMeasurement {
  samplesNs: Float64Array
  samplesMHz: Float64Array
  discarded: number
  launchesPerSample: number
  operandSets: number
  cacheMode: string
  timingSource: string
  stopReason: string
  warmupNs: number
  compileSeconds: number
  meanWatts: number
  meanTemperatureC: number
  badges: string[]
  launches: NativeLaunch[]
  cuptiNs: number
  sustainedNs: number
  sustainedCount: number
  sustainedWatts: number
  joulesPerLaunch: number
}
