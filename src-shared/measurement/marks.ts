/**
 * One language of marks, for every chart, legend, table, tooltip, picture and report: hue tells the provider, shade the
 * kernel, the symbol the format. All are keyed to ids, never to a place in a list, so that a kernel looks the same live and
 * finished, alone and among others. Hollow and dashed: reference only, it computes something else.
 *
 * Colours of both looks keep 3 to 1 to their surface; the providers' first shades and the named kernels' stay apart for
 * protan and deutan eyes too (a test simulates them, Machado 2009). Labels stand beside marks all the same.
 */
export type Look = 'light' | 'dark'
export type ProviderFamily = 'blockscope' | 'triton' | 'cublaslt' | 'hipblaslt' | 'user' | 'cpu'
export type Colour = Readonly<Record<Look, string>>

export const markSymbols = ['circle', 'square', 'diamond', 'triangle', 'triangleDown'] as const
export type MarkSymbol = (typeof markSymbols)[number]

export interface Mark {
  colour: Colour
  symbol: MarkSymbol
  /** Dots inside, for variants of a format. */
  dots: 0 | 1 | 2
  /** Reference only. */
  hollow: boolean
}

export interface KernelId {
  kernel: string
  provider: string
}

const ramp = (light: readonly string[], dark: readonly string[]): readonly Colour[] =>
  light.map((colour, index) => ({ light: colour, dark: dark[index]! }))

/** Of the vendors' libraries, which are never on the same GPU. */
const libraryRamp = ramp(
  ['#4e5359', '#7a8087', '#31363b', '#646970', '#1e2227'],
  ['#8d9399', '#b9bfc6', '#757b81', '#a2a8af', '#61676c']
)

/** Five shades for each provider; the first stands for the provider itself, where no kernel is meant. */
export const ramps: Readonly<Record<ProviderFamily, readonly Colour[]>> = {
  blockscope: ramp(
    ['#08348a', '#0b4da8', '#1865c0', '#2c7fd3', '#4097e2'],
    ['#b9dbff', '#93c6ff', '#75b5ff', '#569ff2', '#3d8bea']
  ),
  triton: ramp(
    ['#d05c08', '#a84400', '#521f00', '#e36d27', '#7e3300'],
    ['#f58e02', '#ffb95c', '#a45e01', '#ffd5b2', '#c97405']
  ),
  cublaslt: libraryRamp,
  hipblaslt: libraryRamp,
  user: ramp(
    ['#00a692', '#0b7d6e', '#015d51', '#004239', '#002c25'],
    ['#65dfaf', '#8fffd0', '#43c193', '#16a478', '#068660']
  ),
  cpu: ramp(
    ['#4c006e', '#6f0c9c', '#8730b6', '#9d48ce', '#b35fe5'],
    ['#9347c2', '#a95dda', '#bf74f2', '#d395ff', '#e1bcfe']
  )
}

export const providerColours: Readonly<Record<ProviderFamily, Colour>> = {
  blockscope: { light: '#0963b5', dark: '#75b5ff' },
  triton: ramps.triton[0]!,
  cublaslt: ramps.cublaslt[0]!,
  hipblaslt: ramps.hipblaslt[0]!,
  user: ramps.user[0]!,
  cpu: ramps.cpu[0]!
}

export const providerTitles: Readonly<Record<ProviderFamily, string>> = {
  blockscope: 'blockscope',
  triton: 'Triton',
  cublaslt: 'cuBLASLt',
  hipblaslt: 'hipBLASLt',
  user: 'user',
  cpu: 'CPU'
}

/** Kernels that people meet often keep the shade they are known by. */
const namedShades: Readonly<Record<string, number>> = {
  wgmma: 0,
  'wgmma-fp8-p32': 1,
  'wgmma-fp8-p64': 2,
  'wgmma-fp8-p128': 3,
  'wgmma-fp8-p256': 4,
  triton: 0,
  'triton-fast-math': 1,
  'cublaslt-bf16': 0,
  'cublaslt-fp8': 1,
  'hipblaslt-bf16': 0,
  'hipblaslt-fp8': 1,
  'cpu-avx512': 0,
  'cpu-avxvnni': 1,
  'cpu-avx2': 2,
  'cpu-portable': 3
}

export function familyOf({ kernel, provider }: KernelId): ProviderFamily {
  const known = provider.toLowerCase()
  if (kernel.startsWith('cpu-') && known !== 'user') return 'cpu'
  return known in ramps ? (known as ProviderFamily) : 'user'
}

/** FNV-1a: the same on every machine and in every session. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const character of text) {
    hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193) >>> 0
  }
  return hash
}

export const kernelKey = ({ kernel, provider }: KernelId): string =>
  `${familyOf({ kernel, provider })} ${kernel}`

/**
 * The shade of each kernel, by kernelKey. A kernel without a name of its own takes the step that its id hashes to; where two
 * clash the later in `kernels` takes the next free one, so `kernels` is to be what a run may use, known before it starts.
 */
export function kernelColours(kernels: readonly KernelId[]): ReadonlyMap<string, Colour> {
  const found = new Map<string, Colour>()
  const taken = new Map<ProviderFamily, Set<number>>()
  const isNamed = ({ kernel }: KernelId) => kernel in namedShades
  const ordered = [...kernels.filter(isNamed), ...kernels.filter((id) => !isNamed(id))]
  for (const id of ordered) {
    const key = kernelKey(id)
    if (found.has(key)) continue
    const family = familyOf(id)
    const steps = ramps[family]
    const used = taken.get(family) ?? new Set()
    taken.set(family, used)
    const wanted = namedShades[id.kernel] ?? hashOf(id.kernel) % steps.length
    let step = wanted
    while (used.has(step) && used.size < steps.length) step = (step + 1) % steps.length
    used.add(step)
    found.set(key, steps[step]!)
  }
  return found
}

const formatSymbols: Readonly<Record<string, [MarkSymbol, Mark['dots']]>> = {
  mxfp4: ['circle', 0],
  mxfp4_b16: ['circle', 1],
  mxfp8: ['square', 0],
  mxfp8_e5m2: ['square', 1],
  mxfp8_e4m3_e5m2: ['square', 2],
  mixed: ['diamond', 0],
  nvfp4: ['triangle', 0],
  mxfp6_e2m3: ['triangleDown', 0],
  mxfp6_e3m2: ['triangleDown', 1],
  w4a16_mxfp4: ['circle', 2],
  w4a16_nvfp4: ['triangle', 2]
}

export function formatSymbol(format: string): Pick<Mark, 'symbol' | 'dots'> {
  const [symbol, dots] = formatSymbols[format] ?? [
    markSymbols[hashOf(format) % markSymbols.length]!,
    2 as const
  ]
  return { symbol, dots }
}

const outlines: Readonly<Record<MarkSymbol, string>> = {
  circle: 'M6 2.3a3.7 3.7 0 1 0 0 7.4 3.7 3.7 0 0 0 0-7.4z',
  square: 'M2.7 2.7h6.6v6.6H2.7z',
  diamond: 'M6 1.3L10.7 6 6 10.7 1.3 6z',
  triangle: 'M6 1.6L10.4 9.6H1.6z',
  triangleDown: 'M6 10.4L10.4 2.4H1.6z'
}

const middles: Readonly<Record<MarkSymbol, number>> = {
  circle: 6,
  square: 6,
  diamond: 6,
  triangle: 7.1,
  triangleDown: 4.9
}

/** SVG path of a symbol in a box of 12 x 12; fill with the rule evenodd, so that dots are holes. */
export function symbolPath({ symbol, dots }: Pick<Mark, 'symbol' | 'dots'>): string {
  const y = middles[symbol]
  const dot = (x: number) => `M${x - 1} ${y}a1 1 0 1 0 2 0 1 1 0 1 0-2 0z`
  const inside = dots === 0 ? '' : dots === 1 ? dot(6) : dot(4.8) + dot(7.2)
  return outlines[symbol] + inside
}

/** The same sign as a character, where text is all there is: tooltips. */
export const symbolCharacters: Readonly<Record<MarkSymbol, string>> = {
  circle: '●',
  square: '■',
  diamond: '◆',
  triangle: '▲',
  triangleDown: '▼'
}
export const hollowCharacters: Readonly<Record<MarkSymbol, string>> = {
  circle: '○',
  square: '□',
  diamond: '◇',
  triangle: '△',
  triangleDown: '▽'
}
