/** Which library or layer a name is from: what frames of a flame graph are coloured by. By the conventions of names. */
import { namePartsOf } from './cppName'
import { demangle } from './demangle'

export interface KernelFamily {
  id: string
  /** For legends. */
  label: string
}

interface Rule extends KernelFamily {
  /** Of a C++ name its scopes ('at::native::reduce_kernel'), template arguments left out; of any other the name. */
  matches: RegExp
}

/** In order: the first that matches decides. */
const rules = [
  {
    id: 'copy',
    label: 'copies and sets',
    matches:
      /^\[?(?:CUDA |HIP )?mem(?:cpy|set)\b|^Copy(?:Host|Device)To|^__amd_rocclr_(?:copy|fill)Buffer/i
  },
  {
    id: 'communication',
    label: 'NCCL, RCCL and other communication',
    matches:
      /^nccl|^rccl|^c10d::|nvshmem|deep_ep::|cross_device_reduce|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all/i
  },
  { id: 'ck', label: 'ck_tile and Composable Kernel', matches: /^(?:ck_tile|ck)::/ },
  {
    id: 'attention',
    label: 'flash-attention and other attention',
    matches:
      /^(?:pytorch_)?flash::|^flashinfer::\w*(?:Prefill|Decode|Attention|MLA)|flash_?(?:attn|fwd|bwd|mla)|\bfmha|attn_(?:fwd|bwd)|attention_kernel|paged_attention|unified_attention|_sdpa_/i
  },
  { id: 'cub', label: 'cub, thrust, rocPRIM', matches: /\b(?:cub|hipcub|thrust|rocprim)::/ },
  {
    id: 'cutlass',
    label: 'CUTLASS',
    matches: /^(?:cutlass|cute)(?:::|\w*_tensorop|_\d|3x_|__)/
  },
  {
    id: 'dnn',
    label: 'cuDNN, MIOpen',
    matches:
      /^cudnn|\bcudnn::|xmma_(?:fprop|dgrad|wgrad)|convolve|winograd|^miopen|^nchwToNhwc|^nhwcToNchw/i
  },
  {
    id: 'blas',
    label: 'cuBLAS, hipBLASLt',
    matches:
      /^nvjet|^Cijk_|^cublas|xmma_gemm|^(?:volta|turing|ampere|hopper|maxwell|sm\d+)_\w*gemm|splitKreduce|^gemv|^gemmSN|^gemmk1|^internal::gemvx|^rocblas/i
  },
  { id: 'at-native', label: 'at::native', matches: /^at::(?!:)|^c10::/ },
  {
    id: 'serving',
    label: 'vLLM, SGLang, TensorRT-LLM, AITER',
    matches: /^(?:vllm|sgl_\w+|tensorrt_llm|flashinfer|aiter|deep_gemm|trtllm\w*)::/
  },
  {
    id: 'operator',
    label: 'PyTorch operators',
    matches:
      /^(?:aten|prim|torch|torchvision|autograd)::|^\w+Backward\d*$|^(?:Optimizer|Torch-Compiled|CompiledFunction|ProfilerStep)/
  },
  { id: 'runtime', label: 'CUDA and HIP calls', matches: /^(?:cuda|cu|hip)[A-Z]\w+$/ },
  { id: 'python', label: 'Python', matches: /\.py[(:]\d+|^nn\.Module: |^<built-in / },
  { id: 'xla', label: 'XLA fusions', matches: /^(?:\w+_)?fusion(?:[._]\d+)*$|^wrapped_\w+$/ },
  {
    id: 'triton',
    label: 'Triton',
    // A bare name: C++ kernels come mangled or with parameters.
    matches: /^triton_|^_?[a-z]\w*kernel\w*$|_(?=\w*\d[dc])(?:\d[dce]*)+$/
  }
] as const satisfies readonly Rule[]

export type FamilyId = (typeof rules)[number]['id'] | 'other'

const other = { id: 'other', label: 'other' } as const

/** All families, in the order of their colours. */
export const kernelFamilies: readonly (KernelFamily & { id: FamilyId })[] = [...rules, other].map(
  ({ id, label }) => ({ id, label })
)

const longestCache = 50_000
const cache = new Map<string, FamilyId>()

/** The family of a name as recorded, mangled or not. */
export function kernelFamily(name: string): FamilyId {
  const known = cache.get(name)
  if (known !== undefined) return known
  const found = familyOfPlain(demangle(name))
  if (cache.size >= longestCache) cache.clear()
  cache.set(name, found)
  return found
}

function familyOfPlain(name: string): FamilyId {
  const scopes = isCppName(name) ? scopesOf(unwrapped(name)) : name
  return rules.find((rule) => rule.matches.test(scopes))?.id ?? other.id
}

/** Whether a name is one that C++ wrote: scopes with template arguments or parameters. */
export function isCppName(name: string): boolean {
  if (/^(?:aten|prim|autograd|torch)::|\.py[(:]|^Mem(?:cpy|set)\b|^<|^nn\.Module/.test(name))
    return false
  return /^void\s|\w<[^<>]|\w\([^()]*[\w*&)]*|^[\w:]+::\w+/.test(name) && !/: /.test(name)
}

/** Kernels that only run the type they are given: the family is that type's. */
const wrappers =
  /^(?:void )?(?:cutlass::(?:device_kernel|Kernel2?)|ck_tile::kentry\w*|flash::enable_sm\w+)$/

/** 'cutlass::device_kernel<flash::X<...>>' to 'flash::X<...>'. */
export function unwrapped(name: string): string {
  for (let inner = name; ;) {
    const parts = namePartsOf(inner)
    const scopes = parts.map((part) => part.name).join('::')
    const type = wrappers.test(scopes) && parts.at(-1)!.args?.find((arg) => isType(arg))
    if (!type) return inner
    inner = type
  }
}

/** Not a number, a truth value or '(int)128'. */
function isType(arg: string): boolean {
  return /^(?:[A-Za-z_]|\(anonymous|<unnamed>)/.test(arg) && !/^(?:true|false)$/.test(arg)
}

function scopesOf(name: string): string {
  return namePartsOf(name)
    .map((part) => part.name)
    .filter((part) => !/^[(<]/.test(part))
    .join('::')
}
