/** The kernels of a job, as Validate and Sweep ask for them. */
import { mount } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'
import KernelsField from '../../../../src-renderer/components/KernelsField.vue'
import { cpu, makeKernel } from '../support/samples'

const device = {
  ...cpu,
  kernels: [
    makeKernel('both', () => 'exact'),
    makeKernel('fp4', (format) => (format === 'mxfp4' ? 'exact' : 'unavailable'))
  ]
}

function field(chosen: string[], formats: string[] = []) {
  const mounted = mount(KernelsField, {
    props: {
      device,
      formats,
      usual: 'all of them',
      modelValue: chosen,
      'onUpdate:modelValue': (modelValue: string[]) => mounted.setProps({ modelValue })
    }
  })
  const boxes = () => mounted.findAll<HTMLInputElement>('input').map(({ element }) => element)
  return {
    mounted,
    boxes,
    open: () => boxes().flatMap(({ disabled, value }) => (disabled ? [] : [value]))
  }
}

describe('the kernels of a job', () => {
  it('are auto and those of the device, and one is chosen alone', async () => {
    const { mounted, boxes } = field([])
    expect(boxes().map(({ value }) => value)).toEqual(['auto', 'both', 'fp4'])
    expect(mounted.text()).toContain('None chosen: all of them.')
    await mounted.get('input[value=fp4]').setValue(true)
    expect(mounted.props('modelValue')).toEqual(['fp4'])
    expect(mounted.text()).not.toContain('None chosen')
  })

  it('are offered where they can do one of the formats', () => {
    expect(field([], ['mxfp8']).open()).toEqual(['auto', 'both'])
    expect(field([], ['mxfp8', 'mxfp4']).open()).toEqual(['auto', 'both', 'fp4'])
    expect(field([]).open()).toEqual(['auto', 'both', 'fp4'])
  })

  it('can be taken back after formats or device have changed', async () => {
    const { mounted, open } = field(['fp4', 'wgmma'], ['mxfp8'])
    expect(open()).toEqual(['auto', 'both', 'fp4', 'wgmma'])
    expect(mounted.text()).toContain('cpu has no kernel wgmma: take it back.')
    await mounted.get('input[value=wgmma]').setValue(false)
    await mounted.get('input[value=fp4]').setValue(false)
    expect(mounted.props('modelValue')).toEqual([])
    expect(open()).toEqual(['auto', 'both'])
  })
})
