/** One plan of sweeps for many GPUs, and what was submitted of it. */
import * as v from 'valibot'

const word = v.pipe(v.string(), v.minLength(1), v.maxLength(4096))

/** As many tasks as one array of Slurm's may have by default (MaxArraySize). */
export const mostTasks = 1000

export const fleetPlanSchema = v.strictObject({
  /** Of the job, and of the run that is collected. */
  name: v.optional(
    v.pipe(v.string(), v.regex(/^[\w.-]{1,60}$/, 'Letters, digits, ".", "-" and "_".')),
    'fleet'
  ),
  /** Flags of `blockscope sweep`, a list of words each. */
  sweeps: v.pipe(v.array(v.array(word)), v.minLength(1, 'Name at least one sweep.')),
  /** How often each is done: once a GPU shows how GPUs differ. */
  copies: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1)
})
export type FleetPlan = v.InferOutput<typeof fleetPlanSchema>

/** A task: which sweep, and the how manieth copy of it. */
export const taskCount = ({ sweeps, copies }: FleetPlan): number => sweeps.length * copies
export const sweepOf = ({ sweeps }: FleetPlan, task: number): readonly string[] =>
  sweeps[task % sweeps.length]!

/** A line of submissions.jsonl. */
export const submissionSchema = v.object({
  /** ISO 8601 */
  at: v.string(),
  /** Slurm's id of the array. */
  job: v.pipe(v.string(), v.regex(/^\d+$/)),
  tasks: v.array(v.number())
})
export type Submission = v.InferOutput<typeof submissionSchema>

/** What was collected already: the same shards are merged once. */
export const collectedSchema = v.object({
  collected: v.array(v.object({ run: v.string(), shards: v.array(v.string()) }))
})
