/** The options of a validation: what was changed, and back. */
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it } from 'vitest'
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
})
