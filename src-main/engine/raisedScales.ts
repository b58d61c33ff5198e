/** What raising a scale of A, then one of B, says of a kernel that runs elsewhere, added to its validation. */
import type { NativeRaisedScale, NativeValidation } from './nativeBinding'

type Check = NativeValidation['perturbationA']

/** As validateWith in native/core/validate.cpp: a right product whose scales act elsewhere is incorrect. */
export function withRaised(
  judged: NativeValidation,
  checks: readonly { scale: NativeRaisedScale; check: Check | undefined }[]
): NativeValidation {
  const all = { ...judged }
  for (const { scale, check } of checks) {
    const told = check ?? { state: 'not-run' as const, row: 0, block: 0, reason: whyNot(scale) }
    all[scale.side === 'a' ? 'perturbationA' : 'perturbationB'] = told
    if (told.state === 'passed' || all.status !== 'passed') continue
    all.status = check ? 'incorrect' : 'proves-nothing'
    all.reason = told.reason
  }
  return all
}

const whyNot = ({ side }: NativeRaisedScale) =>
  `No scale of ${side.toUpperCase()} makes a change that the output type and the tolerance would show: ` +
  'that scales act where they belong cannot be seen. Use other operands.'
