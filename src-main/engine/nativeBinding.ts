/**
 * The TypeScript description of the native addon (native/addon): its functions, and what differs from the contract in what
 * they take and give. Results are the contract's own (src-shared/contract); native/core/backend.h lists the same fields and
 * documents shapes, units and meanings. Times are nanoseconds unless the name says otherwise.
 *
 * Every rejected promise carries a NativeError.
 */
import type { Device, Kernel, Library } from '@shared/contract/devices'
import type { OutputType, PassRule } from '@shared/contract/jobs'
import type { KernelRow } from '@shared/contract/kernelRow'
import type { Operation } from '@shared/contract/operation'
import type { Roof } from '@shared/contract/roofs'
import type { Judged, Measured } from '@shared/contract/run'
import type { NativeQuantizing } from './nativeQuantizing'
import type { NativeCancelFlag, NativeProgress } from './nativeTask'

export interface NativeBinding extends NativeQuantizing {
  readonly version: string
  /** Kernel sources and cache folder; called once before anything else. Throws TypeError on wrong types. */
  configure(options: NativeOptions): void
  detect(): Promise<NativeDetection>
  createCancelFlag(): NativeCancelFlag
  /** What the device reaches, measured now: seconds in which nothing else should run on it. */
  measureRoofs(
    device: string,
    cancel: NativeCancelFlag,
    onProgress?: NativeProgress
  ): Promise<Roof[]>
  /** Compiles what these need, side by side, so that sessions find it made; what does not compile is told by the session that needs it. */
  compileAhead(
    device: string,
    uses: readonly NativeKernelUse[],
    cancel: NativeCancelFlag,
    onProgress?: NativeProgress
  ): Promise<void>
  open(
    request: NativeOpenRequest,
    cancel: NativeCancelFlag,
    onProgress?: NativeProgress
  ): Promise<NativeSession>
  /** Number formats as the native side knows them, for agreement tests: every code's value. */
  decodeTable(numberFormat: string): Float32Array
  /** Codes of float32 values; `saturate` or `ml_dtypes` overflow rule. */
  encode(numberFormat: string, values: Float32Array, overflow: string): Uint8Array | Uint16Array
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
  /** What cuBLASLt's kernels take on a device of compute capability `major`.x where the library is there. */
  cublasLtKernels(major: number): NativeKernel[]
  /** Bytes of machine code of a source, compiled as a session does, by NVRTC; rejects with code 'compile' or 'unavailable'. */
  compileForCuda(file: string, target: string, options: readonly string[]): Promise<number>
  /** What hipBLASLt's kernels take on an architecture, "gfx950", where the library is there. */
  hipblasLtKernels(architecture: string): NativeKernel[]
}

/** The words of ErrorKind in native/core/words.h. */
export type NativeErrorCode = 'usage' | 'unavailable' | 'device' | 'compile' | 'cancelled'

export interface NativeError extends Error {
  code: NativeErrorCode
}

export interface NativeOptions {
  kernelSources: KernelRow[]
  cacheDirectory: string
}

/** `Given` instead of what JSON keeps: the addon gives numbers in bulk as typed arrays. */
type As<Kept, Given> = Omit<Kept, keyof Given> & Given

export interface NativeDetection {
  libraries: Library[]
  devices: NativeDevice[]
}
export type NativeDevice = As<Device, { kernels: NativeKernel[] }>
/** `identity`: what the kernel is made of; its SHA-256 is the sourceHash. */
export type NativeKernel = Omit<Kernel, 'sourceHash' | 'python'> & { identity: Uint8Array }

export interface NativeProblem extends Partial<Operation> {
  format: string
  m: number
  n: number
  k: number
  output: OutputType
}

/** A kernel and a problem that it will be asked to do. */
export interface NativeKernelUse extends NativeProblem {
  kernel: string
}

export interface NativeOpenRequest extends NativeProblem {
  device: string
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
  /** One code a byte, of bf16 in two. */
  aCodes: Uint8Array
  bCodes: Uint8Array
  aScales: Uint8Array
  bScales: Uint8Array
  tensorScaleA?: number
  tensorScaleB?: number
  /** batch x M x N; there when something is accumulated. */
  accumulator?: Float32Array
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
  /** A scale of A and one of B whose raising by one exponent would show in C, for a kernel that runs elsewhere. */
  chooseScales(
    request: NativeValidateRequest,
    cancel: NativeCancelFlag,
    onProgress?: NativeProgress
  ): Promise<NativeRaisedScale[]>
  /** Whether C changed by exactly that scale's share: `before` and `after` it was raised. */
  checkRaised(
    scale: NativeRaisedScale,
    before: Uint8Array,
    after: Uint8Array,
    request: NativeValidateRequest,
    cancel: NativeCancelFlag,
    onProgress?: NativeProgress
  ): Promise<Judged['perturbationA']>
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

export interface NativeRaisedScale {
  side: 'a' | 'b'
  /** False: none would show. */
  found: boolean
  /** Of A or B, and its block along K. */
  row: number
  block: number
  /** Its code one exponent higher. */
  raised: number
}

export interface NativeValidateRequest {
  kernel: string
  atol: number
  rtol: number
  rule: PassRule
  /** Norm-wise, as the kernel's row states it for these operands; 0 or absent: it is judged by the tolerance. */
  statedError?: number
  maxFailures: number
  mapTiles: number
}

export type NativeValidation = As<Judged, { errorMap: Float32Array; launchNs: Float64Array }>

export interface NativeMeasureRequest {
  kernel: string
  cold: boolean
  /** Exactly this many launches; 0: at least three and `warmupNs`. */
  warmupLaunches: number
  warmupNs: number
  minSamples: number
  minTimeNs: number
  maxRelativeStdev: number
  maxSamples: number
  timeoutNs: number
  fixedSamples: number
  sustainedNs: number
  recordLaunches: boolean
  /** Processes of this program that wait with contexts of the device: not what it is contended by. */
  companions: number
}

/** What a measurement is asked for; the engine knows its own processes. */
export type MeasureRequest = Omit<NativeMeasureRequest, 'companions'>

export interface NativeMeasurement extends Measured {
  /** Every accepted sample, per operation, in order. */
  samplesNs: Float64Array
  /** Clock per sample; empty when it cannot be read. */
  samplesMHz: Float64Array
  discarded: number
}
