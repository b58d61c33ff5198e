/** What `blockscope doctor` finds on one device, as one file that its owner can send to others. */
import * as v from 'valibot'
import { deviceSchema, librarySchema } from './devices'
import { runSchema } from './run'

/** A kernel and its emulated twin on the same operands. */
export const twinSchema = v.object({
  kernel: v.string(),
  emulation: v.string(),
  format: v.string(),
  /** Whether C is the same bit for bit. */
  agrees: v.boolean(),
  /** Why not, in a sentence; empty where it does. */
  reason: v.string()
})
export type Twin = v.InferOutput<typeof twinSchema>

export const deviceReportSchema = v.object({
  blockscopeDevice: v.literal(1),
  /** ISO 8601 */
  createdAt: v.string(),
  appVersion: v.string(),
  /** 'linux x64' */
  system: v.string(),
  device: deviceSchema,
  libraries: v.array(librarySchema),
  twins: v.array(twinSchema),
  /** Absent where no kernel computes anything there. */
  validation: v.optional(runSchema),
  sweep: v.optional(runSchema)
})
export type DeviceReport = v.InferOutput<typeof deviceReportSchema>
