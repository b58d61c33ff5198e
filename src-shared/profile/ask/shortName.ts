/**
 * Names as a row or a rectangle can hold them: what a kernel does, its tile and its element types; template arguments
 * that say neither are folded. A step of its own, for display: files, searches and paths keep whole names.
 */
import { argumentsOf, entityOf, namePartsOf, splitArguments, type NamePart } from './cppName'
import { demangle } from './demangle'
import { elementName } from './elementNames'
import { isCppName, kernelFamily, unwrapped, type FamilyId } from './kernelFamilies'

/** Folded arguments of one name are cut after this many characters. */
const longestArguments = 48

const longestCache = 50_000
const cache = new Map<string, string>()

/** @param name as recorded, mangled or not */
export function shortName(name: string): string {
  const known = cache.get(name)
  if (known !== undefined) return known
  const text = shortened(demangle(name), kernelFamily(name))
  if (cache.size >= longestCache) cache.clear()
  cache.set(name, text)
  return text
}

function shortened(name: string, family: FamilyId): string {
  if (family === 'triton') return withoutSpecialisation(name)
  if (!isCppName(name)) return name
  // Some tools leave the middle out: what comes before it says enough.
  const inner = unwrapped(name.replace(/(?:\.\.\.|…).*$/s, ''))
  return shortenerOf[family]?.(inner) ?? folded(inner)
}

const shortenerOf: Partial<Record<FamilyId, (name: string) => string | null>> = {
  cutlass: shortCutlass,
  attention: shortAttention,
  'at-native': shortNative,
  ck: shortComposable,
  cub: shortCub
}

/** Triton before 3.0 wrote how each argument was specialised behind the name: '_fwd_kernel_0d1d2de3c'. */
function withoutSpecialisation(name: string): string {
  return name.replace(/_(?=\w*\d[dc])(?:\d[dce]*)+$/, '')
}

/**
 * CUTLASS 3: the kernel, its main loop, the tile, the schedule and the element types, from the arguments of CollectiveMma
 * (policy, tile, A, strides of A, B; include/cutlass/gemm/collective/collective_mma.hpp).
 */
function shortCutlass(name: string): string | null {
  const parts = namePartsOf(name)
  const kernel = entityOf(parts)?.name
  if (kernel === 'GemmKernel' && parts.at(-2)?.args) return shortConfiguration(parts.at(-2)!)
  const mma = argumentsOf(name, /\bCollectiveMma(?=<)/)
  if (!kernel || !mma) return null
  const [policy = '', tile = '', a = '', , b = ''] = mma
  const loop = entityOf(namePartsOf(policy))?.name
  const schedule = scheduleOf(policy)
  return words(kernel, loop, extents(tile), pair(operandType(a), operandType(b)), schedule)
}

/** A program's own configuration that names its kernel 'GemmKernel', as vLLM's cutlass_3x_gemm<A, out, epilogue, tile, ...>. */
function shortConfiguration({ name, args }: NamePart): string {
  const tile = args!.map(extents).find((found) => found !== null)
  return words(name, tile, firstElement(args!), scheduleOf(args!.join()))
}

function scheduleOf(text: string): string | undefined {
  return /Pingpong|Cooperative/.exec(text)?.[0].toLowerCase()
}

/** An operand of a block-scaled product is a tuple of its elements' and its scales' types. */
function operandType(type: string): string | null {
  const first = /^(?:cute::)?tuple</.test(type) ? argumentsOf(type, /^(?:cute::)?tuple/)?.[0] : type
  return first === undefined ? null : elementName(first.replace(/<.*$/, ''))
}

/**
 * flash-attention 2 has head size and tile in its traits (csrc/flash_attn/src/kernel_traits.h), 3 in its main loop
 * (hopper/mainloop_fwd_sm90_tma_gmma_ws.hpp: stages, cluster, tile, head size of V, element).
 */
function shortAttention(name: string): string | null {
  const kernel = entityOf(namePartsOf(name))?.name
  const traits = argumentsOf(name, /\bFlash_(?:fwd|bwd)_kernel_traits(?=<)/)
  if (kernel && traits) {
    const [head, m, n] = traits.map(plainNumber)
    return words(kernel, `d${head}`, `${m}x${n}`, firstElement(traits))
  }
  const loop = argumentsOf(name, /\bCollectiveMainloop\w+(?=<)/)
  if (!kernel || !loop) return null
  return words(kernel, extents(loop[2] ?? ''), firstElement(loop.slice(3)))
}

/** What an elementwise or reducing kernel applies is in its functor; what wraps the functor says nothing. */
const functorWrappers =
  /^(?:gpu_kernel_impl(?:_nocast)?|func_wrapper_t|ReduceOp|BinaryFunctor|[AB]UnaryFunctor|opmath_\w*gpu_kernel\w*|normal_and_transform)$/

function shortNative(name: string): string | null {
  const parts = namePartsOf(name)
  const kernel = entityOf(parts)
  if (!kernel) return null
  const applied = kernel.args && functorOf(kernel.args)
  return applied ? `${kernel.name}<${applied}>` : null
}

function functorOf(args: readonly string[]): string | null {
  for (const arg of args) {
    if (
      elementName(arg) ||
      /^(?:\(\w+\))?[\d-]|^(?:true|false|int|unsigned|long|std::)|\*$/.test(arg)
    )
      continue
    const parts = namePartsOf(arg)
    const entity = entityOf(parts)
    if (!entity) continue
    if (functorWrappers.test(entity.name))
      return (entity.args && functorOf(entity.args)) ?? entity.name
    return entity.args ? `${entity.name}${foldedArguments(entity.args)}` : entity.name
  }
  return null
}

/** Composable Kernel: what runs, the pipeline or gridwise operation it is made of, and its first element type. */
function shortComposable(name: string): string | null {
  const kernel = entityOf(namePartsOf(name))
  if (!kernel?.args) return null
  const made = kernel.args.map((arg) => entityOf(namePartsOf(arg))?.name ?? '')
  const main = made.find(
    (part) => /Pipeline|Gridwise|Policy/.test(part) && !/Partitioner/.test(part)
  )
  const type =
    /\b(?:ck|ck_tile)::(?:bf16_t|fp16_t|half_t|bhalf_t|fp8_t|bf8_t|f8_\w*t|bf8_\w+_t|f4x2_pk_t|pk_fp4_\w*t)\b|\b_Float16\b/.exec(
      name
    )?.[0]
  if (!main) return null
  return words(kernel.name, main, type && elementName(type))
}

/** cub's policies and iterators are of the library, not of the work. */
function shortCub(name: string): string | null {
  const kernel = entityOf(namePartsOf(name))
  if (!kernel?.args) return null
  const telling = kernel.args.filter((arg) => !/polic|Policy|Iterator|TileState|OffsetT/.test(arg))
  return `${kernel.name}${foldedArguments(telling)}`
}

/** 'ns::f<A<B>, 4>(int)' to 'f<A, 4>'. */
function folded(name: string): string {
  const parts = namePartsOf(name)
  const entity = entityOf(parts)
  if (!entity) return name
  const isMember = /^(?:operator|~)/.test(entity.name) && parts.length > 1
  const owner = isMember ? `${parts[parts.indexOf(entity) - 1]!.name}::` : ''
  return `${owner}${entity.name}${entity.args ? foldedArguments(entity.args) : ''}`
}

function foldedArguments(args: readonly string[]): string {
  const shown: string[] = []
  let length = 0
  for (const arg of args) {
    const text = foldedArgument(arg)
    length += text.length + 2
    if (length > longestArguments) {
      shown.push('…')
      break
    }
    shown.push(text)
  }
  return shown.length === 0 ? '' : `<${shown.join(', ')}>`
}

function foldedArgument(arg: string): string {
  const element = elementName(arg)
  if (element) return element
  const number = plainNumber(arg)
  if (/^-?\d+$/.test(number) || /^(?:true|false)$/.test(number)) return number
  const pointer = /[*&]+$/.exec(arg.replace(/ ?const(?=[ *&]|$)/g, ''))?.[0] ?? ''
  const bare = arg.replace(/ ?const(?=[ *&]|$)/g, '').replace(/\s*[*&]+$/, '')
  return `${elementName(bare) ?? entityOf(namePartsOf(bare))?.name ?? bare}${pointer}`
}

/** NVIDIA's tools write '(int)128', c++filt '128' or '3ul'. */
function plainNumber(text: string): string {
  return text.replace(/^\([\w: ]+\)(?=[-\d])/, '').replace(/^(-?\d+)u?l{0,2}$/, '$1')
}

/** '128x128x64' of a tuple of constants: 'cute::tuple<cute::C<128>, ...>', before CUTLASS 3.3 'cute::constant<int, 128>'. */
function extents(tuple: string): string | null {
  const items = argumentsOf(tuple, /^(?:cute::)?tuple(?=<)/)
  const numbers = items?.map((item) => {
    const args = splitArguments(/<(.*)>$/s.exec(item)?.[1] ?? '')
    return /^-?\d+$/.exec(plainNumber(args.at(-1) ?? ''))?.[0]
  })
  return numbers && numbers.length > 0 && numbers.every(Boolean) ? numbers.join('x') : null
}

function firstElement(args: readonly string[]): string | null {
  return args.map(elementName).find((name) => name !== null) ?? null
}

function pair(a: string | null, b: string | null): string | null {
  return a && b && a !== b ? `${a}*${b}` : (a ?? b)
}

function words(...found: (string | null | undefined)[]): string {
  return found.filter(Boolean).join(' ')
}
