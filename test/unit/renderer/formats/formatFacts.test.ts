import { exactValue } from '@shared/units'
import { expect, it } from 'vitest'
import { numberFormats } from '@shared/formats/numberFormat'
import { codeRows, encodedBy } from '../../../../src-renderer/views/formats/formatFacts'
import {
  openTensors,
  parseNumbers,
  readSample
} from '../../../../src-renderer/views/formats/ownValues'

it('lists codes with their bits and encodes under both overflow rules', () => {
  expect(codeRows(numberFormats.e2m1)[7]).toEqual({ code: 7, bits: '0 11 1', value: 6 })
  const [saturated, mlDtypes] = encodedBy(numberFormats.e4m3, 1e6)
  expect(saturated!.value).toBe(448)
  expect(mlDtypes!.value).toBeNaN()
  expect(exactValue(2 ** -127)).toBe('2^-127')
})

it('reads pasted numbers and tensors of a file', async () => {
  expect(parseNumbers('1, 2\n-3e2').value).toEqual(Float64Array.of(1, 2, -300))
  expect(parseNumbers('1 x').problem).toContain('"x"')
  const header = JSON.stringify({
    h: { dtype: 'F16', shape: [32], data_offsets: [0, 64] },
    b: { dtype: 'BF16', shape: [1], data_offsets: [64, 66] },
    codes: { dtype: 'U8', shape: [1], data_offsets: [66, 67] }
  })
  const length = new Uint8Array(8)
  new DataView(length.buffer).setUint32(0, header.length, true)
  const data = new Uint8Array(67)
  data.set([0x00, 0x3e, 0x01, 0x80])
  const file = new File([length, header, data], 'a.safetensors')
  const { sources } = await openTensors(file)
  expect(sources.map(({ id }) => id)).toEqual(['h', 'b'])
  const sample = await readSample(file, sources[0]!)
  expect(sample.values.subarray(0, 3)).toEqual(Float64Array.of(1.5, -(2 ** -24), 0))
  expect(sample).toMatchObject({ rows: 1, k: 32, ofRows: 1, ofK: 32 })
  await expect(readSample(file, sources[1]!)).rejects.toThrow('less than a block of 32')
  await expect(openTensors(new File(['x'], 'x.safetensors'))).rejects.toThrow('no usable')
})
