/** What libraries call their number formats, as this program's short names. Longest spelling first within a format. */
const spellings: readonly [RegExp, string][] = [
  [/^nv_float4_t\b/, 'nvfp4'],
  [/^mx_float4_t\b/, 'mxfp4'],
  [/^mx_float6_t\b/, 'mxfp6'],
  [/^mx_float8_t\b/, 'mxfp8'],
  [/^(?:float_e2m1\w*_t|f4x2_pk_t|f4_t|pk_fp4_\w*|__nv_fp4_e2m1)$/, 'e2m1'],
  [/^(?:float_e2m3\w*_t|__nv_fp6_e2m3)$/, 'e2m3'],
  [/^(?:float_e3m2\w*_t|__nv_fp6_e3m2)$/, 'e3m2'],
  [
    /^(?:float_e4m3_t|__nv_fp8_e4m3|__hip_fp8_e4m3\w*|Float8_e4m3fn(?:uz)?|fp8_t|f8_t|f8_\w+_t)$/,
    'e4m3'
  ],
  [
    /^(?:float_e5m2_t|__nv_fp8_e5m2|__hip_fp8_e5m2\w*|Float8_e5m2(?:fnuz)?|bf8_t|bf8_\w+_t)$/,
    'e5m2'
  ],
  [
    /^(?:bfloat16_t|__nv_bfloat162?|__hip_bfloat16|hip_bfloat16|BFloat16|bf16_t|bhalf_t|bfloat16)$/,
    'bf16'
  ],
  [/^(?:half_t|__half2?|half|Half|_Float16|fp16_t)$/, 'f16'],
  [/^tfloat32_t$/, 'tf32'],
  [/^float$/, 'f32'],
  [/^double$/, 'f64'],
  [/^(?:int8_t|signed char)$/, 'i8']
]

/** 'bf16' of 'cutlass::bfloat16_t' or 'c10::BFloat16'; null for what is no element type. */
export function elementName(type: string): string | null {
  const last = type.trim().replace(/^(?:\w+::)+/, '')
  return spellings.find(([spelling]) => spelling.test(last))?.[1] ?? null
}
