/** What the words of the Formats view mean: one sentence each, at hand wherever the word stands. */
export const terms = {
  sign: 'sign: 1 bit, 0 for +, 1 for −. Formats of scales have none.',
  exponent: 'exponent: a power of two, stored with a bias added so that it is never negative.',
  mantissa: 'mantissa: the digits after the binary point; m bits cut each octave into 2^m steps.',
  normal: 'normal: 1.mantissa × 2^(exponent − bias); the steps double with each octave.',
  subnormal:
    'subnormal: exponent 0, 0.mantissa × 2^(1 − bias); even steps down to zero, so small values lose digits.',
  code: 'code: the bits that are stored for one element, written in hexadecimal.',
  block: 'block: neighbours along K that share one scale, 32 of them in MX and 16 in NVFP4.',
  scale: 'scale: the number that all codes of a block are multiplied by; one byte for each block.',
  clips: 'clips: lies beyond the largest code at its scale, and is stored as that code.',
  SQNR: 'SQNR: signal to quantisation noise ratio, 10 log10(Σ value² / Σ error²), in dB; 6 dB are one bit.',
  rms: 'rms: root of the mean square, here of the errors.',
  floor:
    'floor: exponent = floor(log2 max) − emax, as OCP MX v1.0 says; the largest values may clip. NVFP4: e4m3 of max / 6, to nearest.',
  ceil: 'ceil: the smallest scale with which nothing clips.',
  even: 'even: as floor, after the maximum is rounded to the mantissa of the element; clips less. NVFP4: as floor.',
  mse: 'mse: the scale with the least squared error, among floor and its neighbours.',
  ladder: 'levels: every value that the format can store at this scale.',
  'tensor scale':
    "tensor scale: NVFP4's float32 for the whole tensor, max / (448 × 6), so that block scales fit into e4m3."
} as const

export type Term = keyof typeof terms
