/**
 * The part of the native addon that quantises, converts and compares weights (native/addon/quantizing.cpp). Field for field
 * it mirrors native/quantize/weightWork.h and storedValues.h, where shapes and meanings are documented. Work on files runs
 * on all cores in memory that does not grow with the weight; every promise rejects with a NativeError, `cancelled` among
 * its codes.
 */
import type { ScaleRule } from '@shared/formats/quantize'
import type { NativeCancelFlag, NativeProgress } from './nativeTask'

export interface NativeQuantizing {
  /** Largest finite magnitude and bad values of some rows. */
  scanValues(
    values: NativeStoredValues,
    range: NativeRowRange,
    cancel: NativeCancelFlag,
    onProgress?: NativeProgress
  ): Promise<NativeScannedValues>
  /** Rows into codes and scales, in files that are there and large enough. */
  quantizeRows(
    values: NativeStoredValues,
    range: NativeRowRange,
    to: NativeQuantizedWeight,
    cancel: NativeCancelFlag,
    onProgress?: NativeProgress
  ): Promise<NativeQuantizedRows>
  compareRows(
    original: NativeStoredValues,
    converted: NativeStoredValues,
    range: NativeRowRange,
    cancel: NativeCancelFlag,
    onProgress?: NativeProgress
  ): Promise<NativeComparedRows>
  /** Scales of whole matrices into another layout. */
  repackScales(
    request: NativeRepackRequest,
    cancel: NativeCancelFlag,
    onProgress?: NativeProgress
  ): Promise<void>
  copyBytes(
    request: NativeCopyRequest,
    cancel: NativeCancelFlag,
    onProgress?: NativeProgress
  ): Promise<void>
  /** Values of memory, whole blocks of them. */
  quantizeValues(
    values: Float64Array,
    form: NativeQuantizedForm,
    cancel: NativeCancelFlag
  ): Promise<NativeQuantizedValues>
}

export interface NativeFilePlace {
  path: string
  /** Byte where it begins. */
  position: number
}

export interface NativeStoredScales {
  place: NativeFilePlace
  /** Name of a number format, here and below. */
  format: string
  scaleBlockSize: number
  /** Name of a built-in layout, or a layout written out. */
  layout: string
}

/** Matrices (rowsPerMatrix, k) one after the other: real numbers, or codes with scales. */
export interface NativeStoredValues {
  rowsPerMatrix: number
  k: number
  place: NativeFilePlace
  /** F64, F32, F16 or BF16; where there is no `blockScaled`. */
  real?: string
  blockScaled?: { element: string; scales: NativeStoredScales; tensorScale: number }
}

/** Rows counted through all matrices; `to` is the first one not taken. */
export interface NativeRowRange {
  from: number
  to: number
}

export interface NativeBadValues {
  nan: number
  infinite: number
  /** Index of the first of them, row * k + column through all matrices; -1 where there is none. */
  first: number
}

export interface NativeScannedValues {
  largest: number
  bad: NativeBadValues
}

export interface NativeQuantizedForm {
  element: string
  /** e8m0 (MX) or ue4m3 (NVFP4). */
  scale: string
  scaleBlockSize: number
  rule: ScaleRule
  /** Of NVFP4; quantizeValues takes that of the values where it is left out. */
  tensorScale?: number
}

export interface NativeQuantizedWeight {
  form: NativeQuantizedForm
  /** Of row 0 of the weight. */
  codes: NativeFilePlace
  scales: NativeFilePlace
  layout: string
}

export interface NativeQuantizedRows {
  /** Blocks with a NaN or an infinity: their scale is NaN. */
  badBlocks: number
  bad: NativeBadValues
}

export interface NativeComparedRows {
  /** Sums of x^2 and (x - y)^2 over the pairs of finite values, and the largest |x - y| among them. */
  signal: number
  noise: number
  largestError: number
  /** Pairs that hold a NaN or an infinity and are not the same. */
  different: number
  /** Of those, finite in the original. */
  lost: number
  /** Of the original. */
  bad: NativeBadValues
}

export interface NativeRepackRequest {
  from: NativeStoredScales
  rowsPerMatrix: number
  /** Scales of a row. */
  columns: number
  range: NativeRowRange
  layout: string
  to: NativeFilePlace
}

export interface NativeCopyRequest {
  from: NativeFilePlace
  to: NativeFilePlace
  count: number
}

export interface NativeQuantizedValues {
  codes: Uint8Array
  scales: Uint8Array
  tensorScale: number
}
