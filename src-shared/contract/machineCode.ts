/** A kernel as it was compiled: what `kernels.machineCode` answers. */
import * as v from 'valibot'

const place = {
  /** Inside the kernel's folder. */
  file: v.optional(v.string()),
  line: v.optional(v.number())
}

export const machineCodeSchema = v.object({
  kernel: v.string(),
  /** 'sm_90a' */
  target: v.string(),
  format: v.string(),
  output: v.string(),
  /** Path of the compiler that made it. */
  compiler: v.string(),
  /** Why there is no machine code to see; '' where there is. */
  withoutCode: v.string(),
  warnings: v.array(
    v.object({
      text: v.string(),
      function: v.optional(v.string()),
      offset: v.optional(v.number()),
      ...place
    })
  ),
  /** As the compiler reports them, of each function. */
  resources: v.array(
    v.object({
      name: v.string(),
      /** Of a thread; on AMD GPUs vector registers of a lane, AGPRs among them. */
      registers: v.number(),
      /** AMD GPUs alone. */
      accumulationRegisters: v.optional(v.number()),
      scalarRegisters: v.optional(v.number()),
      stackBytes: v.number(),
      spilledBytes: v.number(),
      sharedBytes: v.number(),
      /** AMD GPUs alone: waves of a compute unit with workgroups of as many threads as the code names. */
      occupancy: v.optional(
        v.object({
          threads: v.number(),
          waves: v.number(),
          of: v.number(),
          limiters: v.array(v.string())
        })
      )
    })
  ),
  functions: v.array(
    v.object({
      name: v.string(),
      counts: v.array(v.object({ name: v.string(), count: v.number() })),
      instructions: v.array(v.object({ offset: v.number(), text: v.string(), ...place }))
    })
  ),
  sources: v.array(v.object({ path: v.string(), text: v.string() }))
})
export type MachineCode = v.InferOutput<typeof machineCodeSchema>
