/**
 * What kind of work a kernel does: what flame graph and timeline are coloured by. A run says it of what it launched
 * (workKindProperty); else the name tells, and the library that it is from (kernelFamily).
 */
import { workKindIds, type WorkKind } from '../../measurement/pictureColours'
import { workKindProperty } from '../tree/operation'
import { byNameId, textColumn, type ProfileTree } from '../tree/profileTree'
import { demangle } from './demangle'
import { kernelFamily, type FamilyId } from './kernelFamilies'

/** Libraries that do one kind of work only. */
const ofFamily: Partial<Record<FamilyId, WorkKind>> = {
  communication: 'communication',
  copy: 'copy',
  attention: 'attention'
}
/** What holds nothing but names of calls and scopes. */
const ofNoKind: ReadonlySet<FamilyId> = new Set(['runtime', 'operator', 'python'])

/** In order: the first that matches decides, so what is told by less comes later. */
const rules: readonly (readonly [WorkKind, RegExp])[] = [
  ['copy', /reshape_and_cache|copy_blocks|memcpy|memset/i],
  ['attention', /flash|attention|attn|splitkv/i],
  [
    'convert',
    /^(?:widen|encode|pack_?scales?|swizzle)\b|(?:de)?quant|downcast|upcast|to_(?:mx|fp8|fp4|nvfp4)|widen|scaled_cast|per_token_cast/i
  ],
  [
    'block-scaled',
    /(?:mx|nv)fp?[468]|dot_?scaled|block_?scale|scaled_?(?:mm|matmul|gemm)|blockwise|\bwgmma-fp8|matmul_ogs|microscal/i
  ],
  [
    'dense',
    /gemm|gemv|matmul|nvjet|^cijk|xmma|cublas|cutlass|splitk|wgmma|\bmm\b|_mm_|linear|convolve|wgrad|dgrad|fprop|tensorop/i
  ],
  [
    'elementwise',
    /element_?wise|norm|softmax|silu|gelu|relu|sigmoid|rope|rotary|embedding|topk|sort|gating|routing|align|reduce|scan|cub::|thrust::|index|gather|scatter|sampl|at::native|triton_(?:poi|red|per)|pointwise|fused_add|activation|fill|\bcat|argmax|moe_sum|dropout|loss|adam|cast/i
  ]
]

/** Work that is done around a product, whoever launches it. */
const helpers: ReadonlySet<WorkKind> = new Set(['convert', 'copy', 'communication', 'elementwise'])
const isHelper = workKindIds.map((kind) => helpers.has(kind))

/**
 * Of each node of a tree the place of its kind of work in workKindIds, -1: none. An operation has the one that its run says,
 * what it launched that of what it is launched for, all else that of its name.
 */
export function workKindOfNode(tree: ProfileTree): (node: number) => number {
  const ofName = byNameId(tree, (name) => placeOfKind(workKindOf(name)))
  const said = textColumn(tree, workKindProperty)
  if (!said) return ofName
  const saidOf = (node: number) => {
    const id = node < 0 ? -1 : said.values[node]!
    return id < 0 ? -1 : placeOfKind(tree.strings.text(id))
  }
  return (node) => {
    const own = saidOf(node)
    if (own >= 0) return own
    const byName = ofName(node)
    const operation = saidOf(tree.parent[node]!)
    // What is launched for a product and prepares nothing is the product.
    return operation >= 0 && !isHelper[byName] ? operation : byName
  }
}

/** Its place in workKindIds; -1: none. */
export const placeOfKind = (kind: string | undefined): number =>
  workKindIds.findIndex((id) => id === kind)

/** Whether a tree says of any node what kind of work it is. */
export const saysWorkKinds = (tree: ProfileTree): boolean =>
  textColumn(tree, workKindProperty) !== undefined

const known = new Map<string, WorkKind | undefined>()
const mostKnown = 50_000

/** @param name as recorded, mangled or not. Undefined where it does not tell. */
export function workKindOf(name: string): WorkKind | undefined {
  if (known.has(name)) return known.get(name)
  const family = kernelFamily(name)
  const plain = demangle(name)
  const kind = ofNoKind.has(family)
    ? undefined
    : (ofFamily[family] ?? rules.find(([, matches]) => matches.test(plain))?.[0])
  if (known.size >= mostKnown) known.clear()
  known.set(name, kind)
  return kind
}
