/** Operands that a validation is given instead of generated ones, and the C of another program that it judges. */
import { problemOfOperation } from '@shared/contract/operation'
import type { ValidateSpec } from '@shared/contract/jobs'
import { UserError } from '@shared/errors'
import { valuesOfResult } from '@shared/judge/resultBytes'
import { readOperands, type OperandsRead } from '@shared/operands/readOperands'
import { mergedArrays, type ReadArrayFile } from './arrays/arrayFiles'
import { resultOf, type ResultFile, type ResultShape } from './resultFile'

export interface GivenFiles {
  operandsFile?: OperandsRead
  resultFile?: ResultFile
}

/** Throws a UserError when a file cannot be read, or does not fit what was asked. */
export async function readGivenFiles(spec: ValidateSpec, read: ReadArrayFile): Promise<GivenFiles> {
  const { operandsAs, outputScale, resultType } = spec
  if (spec.operandsFiles === undefined) {
    if (spec.resultFile === undefined) return {}
    throw new UserError('usage', 'A result is judged by its operands: name their file too.')
  }
  const files = await Promise.all(spec.operandsFiles.map((path) => read(path, '--operands')))
  const arrays = files.length === 1 ? files[0]! : mergedArrays(files)
  if (spec.resultFile === undefined)
    return { operandsFile: readOperands(arrays, { said: operandsAs, outputScale }) }
  const c = await read(spec.resultFile, '--result')
  const resultWith = (shape: ResultShape) => resultOf(c, shape, resultType)
  const operandsFile = readOperands(arrays, {
    said: operandsAs,
    outputScale,
    product(shape) {
      const { bytes, output } = resultWith(shape)
      return { values: valuesOfResult(bytes, output), output }
    }
  })
  const resultFile = resultWith(operandsFile)
  const problem = problemOfOperation({ ...operandsFile.operation, outputScale }, resultFile.output)
  if (problem) throw new UserError('usage', `C: ${problem.message}.`)
  return { operandsFile, resultFile }
}
