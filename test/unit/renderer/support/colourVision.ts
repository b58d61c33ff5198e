/** How far apart colours are for people who see no red, no green or no blue. */

/** Machado, Oliveira, Fernandes 2009, severity 1.0, on linear RGB. */
export const blindness = {
  none: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protan: [
    0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998
  ],
  deutan: [
    0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881
  ],
  tritan: [
    1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039
  ]
}

function linear(colour: string): number[] {
  return [1, 3, 5]
    .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
}

/** CIE L*a*b* of a '#rrggbb' colour (D65), as seen through a matrix. */
export function lab(colour: string, matrix = blindness.none): [number, number, number] {
  const rgb = linear(colour)
  const row = (m: readonly number[], index: number, v: readonly number[]) =>
    m[3 * index]! * v[0]! + m[3 * index + 1]! * v[1]! + m[3 * index + 2]! * v[2]!
  const seen = [0, 1, 2].map((index) => Math.min(1, Math.max(0, row(matrix, index, rgb))))
  const toXyz = [0.4124, 0.3576, 0.1805, 0.2126, 0.7152, 0.0722, 0.0193, 0.1192, 0.9505]
  const white = [0.9505, 1, 1.089]
  const [x, y, z] = [0, 1, 2].map((index) => {
    const t = row(toXyz, index, seen) / white[index]!
    return t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116
  }) as [number, number, number]
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

/** CIE76 distance of two colours, as seen through a matrix. */
export function difference(one: string, other: string, matrix: number[]): number {
  const [a, b] = [lab(one, matrix), lab(other, matrix)]
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
}

/** Ottosson 2020: distance in OKLab times 100, as an eye sees both. */
export function oklabDistance(one: string, other: string, eye: keyof typeof blindness): number {
  const [a, b] = [oklab(one, eye), oklab(other, eye)]
  return 100 * Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
}

function oklab(colour: string, eye: keyof typeof blindness): [number, number, number] {
  const rgb = linear(colour)
  const m = blindness[eye]
  const [r, g, b] = [0, 1, 2].map((row) =>
    Math.min(
      1,
      Math.max(
        0,
        [0, 1, 2].reduce((sum, at) => sum + m[3 * row + at]! * rgb[at]!, 0)
      )
    )
  ) as [number, number, number]
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const mm = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  return [
    0.2104542553 * l + 0.793617785 * mm - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * mm + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * mm - 0.808675766 * s
  ]
}

/** WCAG 2.2's contrast of two '#rrggbb' colours. */
export function contrast(one: string, other: string): number {
  const luminance = (colour: string) => {
    const [r, g, b] = linear(colour) as [number, number, number]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high! + 0.05) / (low! + 0.05)
}
