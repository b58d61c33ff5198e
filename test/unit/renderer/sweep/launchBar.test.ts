import { readFileSync } from 'node:fs'
import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import { parseRun } from '@shared/contract/parseRun'
import { kernelKey } from '@shared/measurement/marks'
import { coloursOf } from '@shared/charts/sweepSeries'
import LaunchBar from '../../../../src-renderer/views/sweep/LaunchBar.vue'

beforeEach(() => setActivePinia(createPinia()))

it('names launches as the profile views do: C++ names demangled and short, whole in their titles', () => {
  const file = 'docs/results/h200-gpt-oss-120b/run.json'
  const run = parseRun(readFileSync(file, 'utf8'), file)
  const step = run.steps.find(({ measurement }) =>
    measurement?.launches.some(({ name }) => name.startsWith('_Z'))
  )!
  const bar = mount(LaunchBar, {
    props: {
      launches: step.measurement!.launches,
      colour: coloursOf([run]).get(kernelKey(step))!
    }
  })
  expect(bar.text()).not.toContain('_Z')
  const [product, reduce] = bar.findAll('.names [title]')
  expect(product!.text()).toMatch(/^nvjet_sm90_tst_64x16_64x16_4x1_v_bz_splitK_TNT \d/)
  expect(reduce!.text()).toMatch(/^splitKreduce_kernel/)
  expect(reduce!.attributes('title')).toMatch(
    /^cublasLt::splitKreduce_kernel<32, 16, int, .*\(cublasLt::cublasSplitKParams<float>, /
  )
})
