/** What the kernels of a capture compute, told by rules on their names: a product's shape, or FLOP of one launch. */
import { UserError } from '@shared/errors'
import { shownNameTest } from '@shared/profile/ask/shownNameTest'
import {
  flopsOfProduct,
  productFigures,
  usualInstruction,
  type ProductFigures
} from '@shared/capture/productFigures'
import { parseShapeText } from '@shared/shapeText'
import type { KernelFacts } from '@shared/capture/kernelTable'

export interface FlopRule {
  matches(kernel: string): boolean
  /** Of one launch. */
  flops: number
  /** Class of what multiplies: 'bf16'. */
  instruction: string
}

/** 'gemm=4096x4096x7168@fp8', '/gemm.*tn/=2.4e11'. Throws a UserError. */
export function parseFlopRule(text: string): FlopRule {
  const at = text.lastIndexOf('=')
  const [, work = '', instruction = usualInstruction] =
    /^([^@]+)(?:@([a-z]+\d+))?$/i.exec(text.slice(at + 1)) ?? []
  const shape = parseShapeText(work)
  const number = /^\d+(?:\.\d+)?(?:e\d+)?$/i.test(work) ? Number(work) : NaN
  const flops = shape ? flopsOfProduct(shape) : number
  if (at < 1 || !(flops > 0) || !Number.isFinite(flops))
    throw new UserError(
      'usage',
      `--flops ${text}: write NAME=MxNxK or NAME=FLOP, and @fp8 behind it where it does not multiply in ${usualInstruction}; NAME is a text or /regex/.`
    )
  return {
    matches: shownNameTest(text.slice(0, at), { ignoreCase: true }),
    flops,
    instruction: instruction.toLowerCase()
  }
}

/** By the first rule that matches a row; undefined where none does. */
export function figuresOf(
  row: KernelFacts,
  rules: readonly FlopRule[]
): ProductFigures | undefined {
  const rule = rules.find(({ matches }) => matches(row.kernel))
  return rule && productFigures(row, rule.flops, rule.instruction)
}
