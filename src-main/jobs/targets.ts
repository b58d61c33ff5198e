import type { Target } from '@shared/contract/devices'

/**
 * Hardware the project has code for or is asked for, and how far that code has been proven, reports of devices
 * (src-shared/measurement/examination.ts) left aside. 'run': validated on the device itself; 'compiled': assembles, never executed there; 'emulated': executed with its matrix instruction emulated; 'absent': no code yet.
 */
export const targets: Target[] = [
  {
    architecture: 'x86-64 (AVX-512 VNNI, AVX-VNNI, AVX2, portable)',
    instruction: 'vpdpbusd, vdpbf16ps, vfmadd',
    state: 'run',
    note: 'Validated on AMD Zen 5. Instruction sets that a CPU lacks are left out.',
    devices: ['x86-64'],
    kernels: ['cpu-avx512', 'cpu-avxvnni', 'cpu-avx2', 'cpu-portable']
  },
  {
    architecture: 'sm_90a (H100, H200)',
    instruction: 'wgmma bf16 and fp8, TMA',
    state: 'run',
    note: 'Validated on an H200; on an H100 wgmma and decode, up to 1,024 rows, but decode as it was before tiles beyond whole turns came first and L2 let go of codes first. No block-scaled MMA there: every scheme is software.',
    devices: ['sm_90'],
    kernels: [
      ...['wgmma', 'wgmma-fp8-p32', 'wgmma-fp8-p64', 'wgmma-fp8-p128', 'wgmma-fp8-p256'],
      'wgmma-fp8-proved',
      'wgmma-fp8-folded',
      ...['decode-fp8', 'decode']
    ]
  },
  {
    architecture: 'sm_80, sm_86, sm_89',
    instruction: 'mma.sync m16n8k16 bf16',
    state: 'compiled',
    note: 'The same sources were validated on an H200; not on these devices.',
    devices: ['sm_80', 'sm_86', 'sm_89'],
    kernels: ['mma', 'decode-mma']
  },
  {
    architecture: 'sm_100, sm_103 (B200, B300)',
    instruction: 'tcgen05.mma block_scale',
    state: 'emulated',
    note: 'Compiles to UTCQMMA and UTCOMMA; run over a model of tensor memory on a CPU, as Triton kernels for it are, and on an H200; not on the device itself.',
    devices: ['sm_100', 'sm_103'],
    kernels: ['tcgen05', 'tcgen05-pair']
  },
  {
    architecture: 'sm_110 (Jetson Thor)',
    instruction: 'tcgen05.mma block_scale',
    state: 'compiled',
    note: 'The same source as for sm_100, where its instruction was run emulated; not run on this device.',
    devices: ['sm_110'],
    kernels: ['tcgen05', 'tcgen05-pair']
  },
  {
    architecture: 'sm_120, sm_121 (RTX 50)',
    instruction: 'mma.sync block_scale',
    state: 'emulated',
    note: 'Compiles to the block-scaled instruction; run with it emulated lane by lane on a CPU, as Triton kernels for it are, and on an H200 in every pair of formats; not run on such a device.',
    devices: ['sm_120', 'sm_121'],
    kernels: ['mma-block-scale']
  },
  {
    architecture: 'gfx950 (MI350)',
    instruction: 'v_mfma_scale_f32',
    state: 'emulated',
    note: 'Compiles to the block-scaled instruction; run with it emulated lane by lane, as Triton kernels for it are; not run on such a device.',
    devices: ['gfx950'],
    kernels: ['mfma-scale-16', 'mfma-scale-32', 'mfma-scale-linear']
  }
]
