import { expect, it } from 'vitest'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { numberFormats } from '@shared/formats/numberFormat'
import { numberLineOption } from '../../../../src-renderer/charts/formatsNumberLine'
import { chartThemeFrom } from '../../../../src-renderer/charts/theme'
import {
  codeRows,
  encodedBy,
  sizeRows,
  valueText
} from '../../../../src-renderer/views/formats/formatFacts'
import {
  listTensors,
  parseNumbers,
  readTensor
} from '../../../../src-renderer/views/formats/ownValues'

it('counts bits and bytes with scales', () => {
  const [row] = sizeRows([findBlockFormat('nvfp4')], 128, 128, 64)
  expect(row).toMatchObject({ bitsA: 4.5, elements: 8192, scales: 1024 })
  expect(sizeRows([findBlockFormat('mxfp4')], 1, 1, 48)[0]!.elements).toBeUndefined()
})

it('lists codes with their bits and encodes under both overflow rules', () => {
  expect(codeRows(numberFormats.e2m1)[7]).toEqual({ code: 7, bits: '0 11 1', value: 6 })
  const [saturated, mlDtypes] = encodedBy(numberFormats.e4m3, 1e6)
  expect(saturated!.value).toBe(448)
  expect(mlDtypes!.value).toBeNaN()
  expect(valueText(2 ** -127)).toBe('2^-127')
})

it('draws every finite value; above zero on a log axis', () => {
  const theme = chartThemeFrom(() => '#000')
  const points = (log: boolean) =>
    numberLineOption([numberFormats.e2m1], { log }, theme).series[0]!.data.length
  expect(points(false)).toBe(16)
  expect(points(true)).toBe(7)
})

it('reads pasted numbers and tensors of a file', async () => {
  expect(parseNumbers('1, 2\n-3e2').value).toEqual(Float64Array.of(1, 2, -300))
  expect(parseNumbers('1 x').problem).toContain('"x"')
  const header = JSON.stringify({
    h: { dtype: 'F16', shape: [2], data_offsets: [0, 4] },
    b: { dtype: 'BF16', shape: [1], data_offsets: [4, 6] },
    codes: { dtype: 'U8', shape: [1], data_offsets: [6, 7] }
  })
  const length = new Uint8Array(8)
  new DataView(length.buffer).setUint32(0, header.length, true)
  const data = Uint8Array.of(0x00, 0x3e, 0x01, 0x80, 0x40, 0xc0, 9)
  const file = new File([length, header, data], 'a.safetensors')
  const tensors = await listTensors(file)
  expect(tensors.map(({ name }) => name)).toEqual(['h', 'b'])
  expect(await readTensor(file, tensors[0]!)).toEqual(Float64Array.of(1.5, -(2 ** -24)))
  expect(await readTensor(file, tensors[1]!)).toEqual(Float64Array.of(-3))
  await expect(listTensors(new File(['x'], 'x.safetensors'))).rejects.toThrow('no usable')
})
