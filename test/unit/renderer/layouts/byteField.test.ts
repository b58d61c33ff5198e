/** Opening bytes in the Layouts view: raw files, and a tensor of a checkpoint. */
import { flushPromises, mount } from '@vue/test-utils'
import { expect, it, vi } from 'vitest'
import { planFile } from '@shared/formats/safetensors'
import { ggufBytes } from '../../../support/writeGguf'
import { pickFiles } from '../../../../src-renderer/client/shell'
import { noBytes, type ByteEntry } from '../../../../src-renderer/views/layouts/byteEntry'
import ByteField from '../../../../src-renderer/views/layouts/ByteField.vue'

vi.mock('../../../../src-renderer/client/shell', () => ({ pickFiles: vi.fn() }))

function checkpoint(
  tensors: { name: string; dtype: string; shape: number[]; bytes: Uint8Array }[]
) {
  const planned = tensors.map(({ bytes, ...rest }) => ({ ...rest, byteLength: bytes.length }))
  const { head } = planFile('x', planned, {})
  const parts = [head, ...tensors.map(({ bytes }) => bytes)].map((part) => part.slice())
  return new File(parts, 'model.safetensors')
}

async function opened(file: File) {
  vi.mocked(pickFiles).mockResolvedValue([file])
  const field = mount(ByteField, {
    props: {
      label: 'Bytes',
      hint: 'hint',
      modelValue: noBytes,
      'onUpdate:modelValue': (modelValue: ByteEntry) => field.setProps({ modelValue })
    }
  })
  await field.get('button').trigger('click')
  await flushPromises()
  await flushPromises()
  return field
}

const filled = (length: number, byte: number) => new Uint8Array(length).fill(byte)
const scalesOfTwo = new Uint8Array(16).map((_, i) => (i < 8 ? 120 : 121))
const model = checkpoint([
  { name: 'up_blocks', dtype: 'U8', shape: [2, 4, 2, 16], bytes: filled(256, 1) },
  { name: 'up_scales', dtype: 'U8', shape: [2, 4, 2], bytes: scalesOfTwo },
  { name: 'norm.weight', dtype: 'BF16', shape: [4], bytes: filled(8, 2) }
])

it('of a checkpoint shows the scales of a weight as the file has them, never the header', async () => {
  const field = await opened(model)
  expect(field.props('modelValue').bytes).toEqual(filled(8, 120))
  expect(field.text()).toContain('up_scales, matrix 0 of 2')
  expect(field.emitted('matrix')).toEqual([
    [{ rows: 4, columns: 2, layout: 'linear', format: 'mxfp4' }]
  ])
  const choices = field.findAll('option').map((option) => option.text())
  expect(choices).toEqual(['up [2, 4, 64]: scales, gpt-oss, linear', 'up_blocks, U8 [2, 4, 2, 16]'])
  const index = field.get('input')
  await index.setValue('1')
  await flushPromises()
  expect(field.props('modelValue').bytes).toEqual(filled(8, 121))
  await index.setValue('2')
  expect(field.text()).toContain('Matrix must be from 0 to 1.')
  await field.get('select').setValue('up_blocks')
  await flushPromises()
  expect(field.props('modelValue').bytes).toEqual(filled(32, 1))
})

it('of an operand file shows the scales of A or of B, which lie linear', async () => {
  const operands = checkpoint([
    { name: 'a_codes', dtype: 'U8', shape: [2, 64], bytes: filled(128, 1) },
    { name: 'a_scales', dtype: 'U8', shape: [2, 2], bytes: filled(4, 127) }
  ])
  const field = await opened(operands)
  expect(field.props('modelValue').bytes).toEqual(filled(4, 127))
  expect(field.emitted('matrix')).toEqual([[{ rows: 2, columns: 2, layout: 'linear' }]])
})

it('says what is wrong with a checkpoint', async () => {
  const none = checkpoint([{ name: 'w', dtype: 'F32', shape: [1], bytes: filled(4, 0) }])
  expect((await opened(none)).text()).toContain('has no tensor of one byte a value')
  const gguf = new File(['GGUF'], 'model.gguf')
  expect((await opened(gguf)).text()).toContain('model.gguf is no usable .gguf file: it is cut off')
  const broken = new File(['{}'], 'broken.safetensors')
  expect((await opened(broken)).text()).toContain('broken.safetensors is no usable .safetensors')
})

it('of a GGUF file shows the scales that lie among the codes of a weight', async () => {
  // Of each block of MXFP4 (type 39) a scale, then 16 bytes of codes.
  const bytes = Uint8Array.from({ length: 4 * 2 * 17 }, (_, i) => (i % 17 === 0 ? 100 + i / 17 : 1))
  const file = ggufBytes([{ name: 'up.weight', shape: [4, 64], type: 39, bytes }])
  const field = await opened(new File([new Uint8Array(file)], 'model.gguf'))
  expect(field.props('modelValue').bytes).toEqual(Uint8Array.from({ length: 8 }, (_, i) => 100 + i))
  expect(field.emitted('matrix')).toEqual([
    [{ rows: 4, columns: 2, layout: 'linear', format: 'mxfp4' }]
  ])
})

it('of names it does not know says what looks like scales, and lets a person say whose they are', async () => {
  const unknown = checkpoint([
    { name: 'layer.w_codes', dtype: 'U8', shape: [4, 32], bytes: filled(128, 1) },
    { name: 'layer.w_scale', dtype: 'U8', shape: [4, 2], bytes: filled(8, 120) }
  ])
  const field = await opened(unknown)
  const choices = () => field.findAll('option').map((option) => option.text())
  expect(choices()).toContain(
    'layer.w_scale, U8 [4, 2] (looks like scales of layer.w_codes, mxfp4)'
  )
  expect(field.emitted('matrix')).toEqual([[{ rows: 4, columns: 2 }]])
  await field.findAll('select')[1]!.setValue('layer.w_codes, mxfp4')
  expect(field.emitted('matrix')!.at(-1)).toEqual([
    { rows: 4, columns: 2, layout: 'linear', format: 'mxfp4' }
  ])
})

it('takes any other file as it is', async () => {
  const raw = new File([filled(5, 9).slice()], 'scales.bin')
  expect((await opened(raw)).props('modelValue').bytes).toEqual(filled(5, 9))
})
