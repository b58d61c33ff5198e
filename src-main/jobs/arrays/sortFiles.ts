/** Which of the files that came with a job hold its operands, and which one its C. */
import type { ValidateSpec } from '@shared/contract/jobs'
import { UserError } from '@shared/errors'
import { holdsOperands } from '@shared/operands/names'
import { arrayFileOf, type ReadArrayFile } from './arrayFiles'

export interface FileBytes {
  name: string
  bytes: Uint8Array
}

/** The spec with the files named in it, and what reads them by these names. Throws a UserError when they are not of one job. */
export async function sortFiles(
  spec: ValidateSpec,
  files: readonly FileBytes[]
): Promise<{ spec: ValidateSpec; read: ReadArrayFile }> {
  if (spec.operandsFiles !== undefined || spec.resultFile !== undefined)
    throw new UserError('usage', 'Files come with this call; none is named in it besides.')
  const names = files.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw new UserError('usage', `Two of the files are called ${twice}.`)
  const read = await Promise.all(files.map(({ name, bytes }) => arrayFileOf(name, bytes)))
  const [ofOperands, others] = [true, false].map((wanted) =>
    read.filter((file) => holdsOperands(file) === wanted)
  )
  if (ofOperands!.length === 0)
    throw new UserError(
      'usage',
      `${names.join(', ')}: no array is called a_codes, b_codes, a_scales or b_scales, as operands are (docs/operands.md).`
    )
  if (others!.length > 1) {
    const several = others!.map(({ path }) => path).join(' and ')
    throw new UserError('usage', `${several} hold no operands; one C can be judged at a time.`)
  }
  const held = new Map(read.map((file) => [file.path, file]))
  const operandsFiles = ofOperands!.map(({ path }) => path)
  const [c] = others!
  return {
    spec: { ...spec, operandsFiles, ...(c && { resultFile: c.path }) },
    read: async (name) => held.get(name)!
  }
}
