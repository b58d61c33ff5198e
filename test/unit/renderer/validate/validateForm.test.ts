/** The options of a validation: what was changed, and back. */
import { createPinia, setActivePinia } from 'pinia'
import * as v from 'valibot'
import { beforeEach, describe, expect, it } from 'vitest'
import { validateSpecSchema } from '@shared/contract/jobs'
import { useValidateForm } from '../../../../src-renderer/views/validate/validateForm'

describe('the form of a validation', () => {
  beforeEach(() => setActivePinia(createPinia()))

  it('says that it was changed only where it was, lists included', () => {
    const { form, changed, reset } = useValidateForm()
    expect(changed.value).toBe(false)
    form.m = '64'
    expect(changed.value).toBe(true)
    reset()
    expect(changed.value).toBe(false)
    form.taken = [{ source: 'mine', rows: [] }]
    expect(changed.value).toBe(true)
    reset()
    expect(changed.value).toBe(false)
  })

  it('asks for the kernels that were chosen, and takes those of a run', () => {
    const { form, spec, take } = useValidateForm()
    expect(spec('cpu').kernels).toEqual([])
    form.kernels = ['cpu-portable']
    const asked = v.parse(validateSpecSchema, spec('cpu'))
    expect(asked.kernels).toEqual(['cpu-portable'])
    form.kernels = []
    take(asked)
    expect(form.kernels).toEqual(['cpu-portable'])
  })
})
