/** A product of zeros, small enough to hand to a Python kernel in a test. */
const [m, n, k] = [4, 8, 64]

export const smallProblem = (device: string) => ({
  ...{ device, format: 'mxfp4', m, n, k, output: 'f16' as const },
  operands: { distribution: 'normal', seed: 1 }
})
export const smallOperands = {
  aCodes: new Uint8Array(m * k),
  bCodes: new Uint8Array(n * k),
  aScales: new Uint8Array((m * k) / 32),
  bScales: new Uint8Array((n * k) / 32)
}
