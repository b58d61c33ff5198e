import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { demangle } from '@shared/profile/ask/demangle'

// Expected texts are those of GNU c++filt 2.40, less the return type of templates.
describe('demangle', () => {
  it.each([
    ['_Z4gemmv', 'gemm()'],
    ['_Z4gemmPKfPfi', 'gemm(float const*, float*, int)'],
    ['_ZN3fooC1Ei', 'foo::foo(int)'],
    ['_ZN3fooIiED2Ev', 'foo<int>::~foo()'],
    ['_Z1fIiEvT_PFvS0_E', 'f<int>(int, void (*)(int))'],
    [
      '_ZN2ns5quantILi16ELb1EfEEvPT1_PK6__halfRA4_i',
      'ns::quant<16, true, float>(float*, __half const*, int (&) [4])'
    ],
    [
      '_ZNSt6vectorIiSaIiEE9push_backERKi',
      'std::vector<int, std::allocator<int> >::push_back(int const&)'
    ],
    [
      '_ZN4cute4copyIJNS_1CILi8EEES2_EEEvDpT_',
      'cute::copy<cute::C<8>, cute::C<8> >(cute::C<8>, cute::C<8>)'
    ],
    ['_ZNK3Foo3barEv', 'Foo::bar() const'],
    [
      '_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiiEEEEEEEvNT_6ParamsE',
      'cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int> > >(cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int> >::Params)'
    ]
  ])('%s', (mangled, text) => expect(demangle(mangled)).toBe(text))

  it('reads the lambdas within lambdas of a PyTorch kernel', () => {
    const file = readFileSync('test/fixtures/h200/triton_mxfp8_h200.hatchet', 'utf8')
    const mangled = /"name": "(_ZN2at6native[^"]+)"/.exec(file)![1]!
    expect(demangle(mangled)).toMatch(
      /^at::native::\(anonymous namespace\)::distribution_elementwise_grid_stride_kernel<float, 4, at::native::templates::cuda::normal_and_transform</
    )
  })

  // What a T_ means is settled where it is printed: a substitution can stand for one that another encoding read.
  it.each([
    [
      '_ZN3xla14primitive_util15ArrayTypeSwitchIZNS_11LiteralUtil8CreateR0IlEENS_7LiteralENS_13PrimitiveTypeET_EUlS6_E_EEDcOS6_S5_',
      'xla::primitive_util::ArrayTypeSwitch<xla::LiteralUtil::CreateR0<long>(xla::PrimitiveType, long)::{lambda(auto:1)#1}>(xla::LiteralUtil::CreateR0<long>(xla::PrimitiveType, long)::{lambda(auto:1)#1}&&, xla::PrimitiveType)'
    ],
    ['_Z1fIJEEvDpT_', 'f<>()'],
    ['_Z1gIiJEEvT_DpT0_', 'g<int>(int)'],
    ['_Z1hIJiRfEEvDpOT_', 'h<int, float&>(int&&, float&)'],
    ['_ZTV3Foo', 'vtable for Foo'],
    ['_Z5quantDF16bDF16_', 'quant(std::bfloat16_t, _Float16)'],
    ['_ZN1AcvT_IiEEv', 'A::operator int<int>()']
  ])('%s', (mangled, text) => expect(demangle(mangled)).toBe(text))

  it('agrees with c++filt on 99.9 % of 5,000 public names, and leaves none raw', () => {
    const rows = readFileSync('test/fixtures/names/cxxfilt.tsv', 'utf8').trim().split('\n')
    const dense = (text: string) => text.replaceAll(' ', '')
    const other = rows.filter((row) => {
      const [mangled, expected] = row.split('\t') as [string, string]
      const text = demangle(mangled)
      expect(text).not.toBe(mangled)
      // c++filt writes return types of templates, which stand before the name.
      return !dense(expected).endsWith(dense(text))
    })
    expect(rows.length).toBeGreaterThanOrEqual(5000)
    expect(other.length / rows.length).toBeLessThanOrEqual(0.001)
  })

  it.each([
    'matmul_kernel [M=1]',
    '_Z',
    '_Zfoo',
    '_Z41gemm',
    '_ZN3fooIXT_EE',
    '_Z1fIXwtLi1EEEvv',
    'K=1024',
    '',
    '_Z1fS9_',
    '_Z1fT_'
  ])("leaves '%s' as it is", (name) => expect(demangle(name)).toBe(name))

  it('keeps what tools append', () => {
    expect(demangle('_Z4gemmv [M=8192]')).toBe('gemm() [M=8192]')
  })

  it('ends on names that double with every substitution', () => {
    const hostile = `_Z1fI${'1aI'.repeat(400)}${'E'.repeat(400)}EvS_${'PS_'.repeat(2000)}`
    expect(demangle(hostile)).toBe(hostile)
  })
})
