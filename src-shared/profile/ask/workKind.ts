/**
 * What kind of work a kernel does, by its name: what flame graph and timeline are coloured by. The library that a name is from
 * (kernelFamily) tells some of it.
 */
import type { WorkKind } from '../../measurement/pictureColours'
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
    /gemm|gemv|matmul|nvjet|^cijk|xmma|cublas|cutlass|splitk|wgmma|\bmm\b|_mm_|linear|multiply|convolve|wgrad|dgrad|fprop|tensorop/i
  ],
  [
    'elementwise',
    /element_?wise|norm|softmax|silu|gelu|relu|sigmoid|rope|rotary|embedding|topk|sort|gating|routing|align|reduce|scan|cub::|thrust::|index|gather|scatter|sampl|at::native|triton_(?:poi|red|per)|pointwise|fused_add|activation|fill|\bcat|argmax|moe_sum|dropout|loss|adam|fallback|cast/i
  ]
]

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
