/**
 * Messages between the parent and the engine process. Both ends are this program's own code on one machine, so the
 * messages are typed, not parsed; what comes from outside is parsed by the contract before it gets here.
 */
import type {
  NativeDetection,
  NativeErrorCode,
  NativeMeasureRequest,
  NativeMeasurement,
  NativeOpenRequest,
  NativeOperands,
  NativeOptions,
  NativeValidateRequest,
  NativeValidation
} from './nativeBinding'

export interface EngineOptions extends NativeOptions {
  /** provider.py of resources/providers/triton; absent: Triton is not looked for. */
  tritonScript?: string
}

/** Methods of the engine process. A session is a number that `open` returned. */
export interface EngineMethods {
  configure: { input: EngineOptions; output: { version: string } }
  detect: { input: null; output: NativeDetection }
  open: { input: NativeOpenRequest; output: number }
  validate: { input: { session: number; request: NativeValidateRequest }; output: NativeValidation }
  measure: { input: { session: number; request: NativeMeasureRequest }; output: NativeMeasurement }
  operands: { input: { session: number }; output: NativeOperands }
  close: { input: { session: number }; output: null }
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
