/**
 * Messages between the parent and the engine process. Both ends are this program's own code on one machine, so the
 * messages are typed, not parsed; what comes from outside is parsed by the contract before it gets here.
 */
import type { Roof } from '@shared/contract/roofs'
import type { Detection } from '@shared/contract/devices'
import type { FormatComparison } from '@shared/contract/formats'
import type { ComparisonRow } from '@shared/formats/compare'
import type { Judgement } from '@shared/judge/findMistake'
import type {
  NativeErrorCode,
  NativeKernelUse,
  MeasureRequest,
  NativeMeasurement,
  NativeOpenRequest,
  NativeOperands,
  NativeOptions,
  NativeValidateRequest,
  NativeValidation
} from './nativeBinding'
import type {
  NativeComparedRows,
  NativeCopyRequest,
  NativeQuantizedRows,
  NativeQuantizedWeight,
  NativeRepackRequest,
  NativeRowRange,
  NativeScannedValues,
  NativeStoredValues
} from './nativeQuantizing'
import type { PythonKernel } from './pythonKernel'

/** What there is; the contract's detection adds what the parent knows. */
export type EngineDetection = Omit<Detection, 'warnings'>

export interface EngineOptions extends NativeOptions {
  /** resources/providers; absent: there are no Python kernels, Triton's neither. */
  providersFolder?: string
}

/** Methods of the engine process. A session is a number that `open` returned. */
export interface EngineMethods {
  configure: { input: EngineOptions; output: { version: string } }
  detect: { input: { withoutTriton: boolean } | null; output: EngineDetection }
  /** What was found with the kernels of a file that a person named. */
  addPythonKernels: { input: { file: string; found: EngineDetection }; output: EngineDetection }
  /** What these need, ahead of the sessions that need it. */
  compile: { input: { device: string; uses: NativeKernelUse[] }; output: null }
  open: { input: NativeOpenRequest; output: number }
  validate: {
    input: { session: number; request: NativeValidateRequest; python?: PythonKernel }
    output: NativeValidation
  }
  /** C that another program made of the session's operands. */
  judge: {
    input: { session: number; output: Uint8Array; request: NativeValidateRequest }
    output: { validation: NativeValidation; judgement: Judgement }
  }
  measure: {
    input: { session: number; request: MeasureRequest; python?: PythonKernel }
    output: NativeMeasurement
  }
  /** What the device reaches, measured now. */
  roofs: { input: { device: string }; output: Roof[] }
  operands: { input: { session: number }; output: NativeOperands }
  close: { input: { session: number }; output: null }
  scanValues: {
    input: { values: NativeStoredValues; range: NativeRowRange }
    output: NativeScannedValues
  }
  quantizeRows: {
    input: { values: NativeStoredValues; range: NativeRowRange; to: NativeQuantizedWeight }
    output: NativeQuantizedRows
  }
  compareRows: {
    input: { original: NativeStoredValues; converted: NativeStoredValues; range: NativeRowRange }
    output: NativeComparedRows
  }
  repackScales: { input: NativeRepackRequest; output: null }
  copyBytes: { input: NativeCopyRequest; output: null }
  compareFormats: { input: FormatComparison; output: ComparisonRow[] }
}

export type EngineMethod = keyof EngineMethods

export type ToEngine =
  | { type: 'call'; id: number; method: EngineMethod; input: unknown }
  | { type: 'cancel'; id: number }
  | { type: 'ping' }

export type FromEngine =
  | { type: 'result'; id: number; value: unknown }
  | { type: 'error'; id: number; code: NativeErrorCode | 'internal'; message: string }
  | { type: 'progress'; id: number; fraction: number; phase: string }
  /** Answers a ping: the engine's event loop turns, whatever its worker threads do. */
  | { type: 'pong' }
