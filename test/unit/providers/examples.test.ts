/** The worked examples: each loads, says what it is, and names its package where that is not here. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runInProcess } from '../../support/runInProcess'
import { pythonHas } from '../../support/python'

const folder = 'resources/providers/examples'
const files = readdirSync(folder).filter((name) => name.endsWith('.py'))

/** What each needs beside torch. */
const packages: Record<string, [packageName: string, install: RegExp]> = {
  'deep_gemm_fp8.py': ['deep_gemm', /github\.com\/deepseek-ai\/DeepGEMM/],
  'flashinfer_fp4.py': ['flashinfer', /pip install flashinfer-python/],
  'torch_bf16.py': ['torch', /pip install torch/],
  'torch_grouped_mm.py': ['torch', /pip install torch/],
  'torch_scaled_mm.py': ['torch', /pip install torch/],
  'transformer_engine_mxfp8.py': [
    'transformer_engine',
    /pip install 'transformer-engine\[pytorch\]'/
  ],
  'triton_kernels_matmul.py': ['triton_kernels', /python\/triton_kernels/],
  'vllm_fp4.py': ['vllm', /pip install vllm/]
}

describe.skipIf(!pythonHas('json'))('examples of Python kernels', () => {
  it('are those listed here and in docs/providers.md', () => {
    expect(files).toEqual(Object.keys(packages))
    const page = readFileSync('docs/providers.md', 'utf8')
    for (const file of files) {
      expect(page).toContain(`\`${file}\``)
      const told = /NOT RUN|Run on an NVIDIA H200/
      expect(readFileSync(join(folder, file), 'utf8')).toMatch(told)
    }
  })

  it.each(files)(
    '%s loads, and says what to install where its package is not here',
    async (file) => {
      const [packageName, install] = packages[file]!
      if (pythonHas(packageName)) return
      const { code, stderr } = await runInProcess(['provider', 'check', join(folder, file)])
      // A package asks for torch first where both are missing.
      const named = new RegExp(`It needs (${packageName}|torch), which \\S+ does not have \\(`)
      expect(stderr).toMatch(named)
      if (stderr.includes(`needs ${packageName}`)) expect(stderr).toMatch(install)
      expect(stderr.trimEnd().split('\n')).toHaveLength(1)
      expect(code).toBe(3)
    }
  )
})
