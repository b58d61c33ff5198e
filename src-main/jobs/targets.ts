import type { Target } from '@shared/contract/devices'

/**
 * Hardware the project has code for, and how far that code has been proven. 'run': validated on the device itself;
 * 'compiled': assembles, never executed on the device; 'absent': no code yet.
 */
export const targets: Target[] = [
  {
    architecture: 'x86-64 (AVX-512 VNNI, AVX-VNNI, AVX2, portable)',
    instruction: 'vpdpbusd, vdpbf16ps, vfmadd',
    state: 'run',
    note: 'Runs on every machine; the instruction sets that the CPU lacks are left out.'
  }
]
