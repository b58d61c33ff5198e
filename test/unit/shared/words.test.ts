/** What is wrong is said in words for people: fields that do not fit a schema, names that are not known. */
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { commandOf } from '@shared/contract/command'
import { jobSpecSchema, type JobSpec } from '@shared/contract/jobs'
import { contract } from '@shared/contract/methods'
import { runSchema } from '@shared/contract/run'
import { didYouMean, knownName } from '@shared/knownName'
import { describeIssues } from '@shared/schemaWords'
import { sampleRun } from '../../support/sampleRun'

const wordsFor = (schema: v.GenericSchema, value: unknown): string => {
  const parsed = v.safeParse(schema, value)
  return parsed.success ? '' : describeIssues(parsed.issues)
}

describe('what does not fit a schema', () => {
  it.each<[v.GenericSchema, unknown, string]>([
    [v.object({ m: v.number() }), { m: 'x' }, 'm: a number is expected, not "x"'],
    [v.object({ m: v.number() }), {}, 'm: it is missing'],
    [v.strictObject({}), { extra: 1 }, 'extra: nothing of this name is known here'],
    [v.pipe(v.number(), v.integer()), 1.5, 'a whole number is expected, not 1.5'],
    [v.pipe(v.number(), v.finite()), Infinity, 'a finite number is expected, not Infinity'],
    [v.pipe(v.number(), v.maxValue(20)), 21, 'a number of at most 20 is expected, not 21'],
    [
      v.pipe(v.array(v.string()), v.maxLength(1)),
      ['a', 'b'],
      'a length of at most 1 is expected, not 2'
    ],
    [v.picklist(['cold', 'hot']), 'warm', 'cold or hot is expected, not "warm"'],
    [v.union([v.number(), v.literal('NaN')]), 'x', 'a number or NaN is expected, not "x"'],
    [v.instance(Uint8Array), 'x', 'binary data is expected, not "x"'],
    [v.pipe(v.array(v.string()), v.minLength(1, 'Name at least one.')), [], 'Name at least one']
  ])('%#', (schema, value, words) => expect(wordsFor(schema, value)).toBe(words))

  it('is said for every field of every method without the words of the schema library', () => {
    const strange = [undefined, null, 'x', -1, 1.5, NaN, [], [1], {}, { id: 7 }, new Uint8Array()]
    const schemas: v.GenericSchema[] = [
      runSchema,
      jobSpecSchema,
      ...Object.values(contract).flatMap(({ input, output }) => [input, output])
    ]
    let said = 0
    const try_ = (schema: v.GenericSchema, value: unknown) => {
      const words = wordsFor(schema, value)
      if (words) said++
      expect(words).not.toMatch(/Invalid |\bExpected |Received |something else/)
    }
    for (const schema of schemas) for (const value of strange) try_(schema, value)
    for (const [name] of Object.entries(sampleRun()))
      for (const value of strange) try_(runSchema, { ...sampleRun(), [name]: value })
    for (const [name] of Object.entries(sampleRun().spec))
      for (const value of strange) try_(jobSpecSchema, { ...sampleRun().spec, [name]: value })
    expect(said).toBeGreaterThan(300)
  })
})

describe('a name that is not known', () => {
  const known = ['nvfp4', 'mxfp4', 'mxfp8', 'mxfp8_e5m2', 'mixed']
  it('is taken in any case, an exact one first', () => {
    expect(knownName('MXFP4', known, 'format', 'Formats')).toBe('mxfp4')
    expect(knownName('B', ['b', 'B'], 'format', 'Formats')).toBe('B')
  })
  it.each([
    ['mxfp5', ' Did you mean mxfp4?'],
    ['mxpf4', ' Did you mean mxfp4?'],
    ['mxfp', ' Did you mean mxfp4?'],
    ['mxfp8e5m2', ' Did you mean mxfp8_e5m2?'],
    ['float32', ''],
    ['x', ''],
    ['', '']
  ])('%j is told%j', (wanted, words) => expect(didYouMean(wanted, known)).toBe(words))
  it('is refused with all that is known', () =>
    expect(() => knownName('fp3', known, 'format', 'Formats')).toThrow(
      /^"fp3" is no format\..* Formats: nvfp4, mxfp4, mxfp8, mxfp8_e5m2, mixed\.$/
    ))
})

describe('the command of a job', () => {
  const spec = (change: object) =>
    v.parse(jobSpecSchema, { kind: 'validate', formats: ['mxfp4'], ...change }) as JobSpec

  it('leaves defaults out, and what a file of operands brings', () => {
    expect(commandOf(spec({ m: 64 }))).toBe('blockscope validate --formats mxfp4 -M 64')
    const operands = {
      operandsFiles: ['/a b.safetensors', '/b.npy'],
      m: 64,
      n: 64,
      k: 64,
      output: 'f32'
    }
    expect(commandOf(spec(operands))).toBe(
      `blockscope validate --operands '/a b.safetensors' /b.npy`
    )
    const sweep = { kind: 'sweep', mValues: [16, 64], kValues: [512, 1024] }
    expect(commandOf(spec(sweep))).toBe('blockscope sweep --formats mxfp4 -M 16,64 -K 512,1024')
  })

  it.each(['; rm -rf ~', '$(id)', '`id`', "'", '"', '\n', '-x', 'a b', '~', '*', '&', '|'])(
    'quotes %j for a shell wherever it stands',
    (evil) => {
      const words = commandOf(
        spec({ formats: [evil], kernels: [evil], providers: [evil], device: evil })
      )
      const quoted = `'${evil.replaceAll("'", `'\\''`)}'`
      for (const flag of ['--formats', '--kernels', '--providers', '--device'])
        expect(words).toContain(`${flag} ${quoted}`)
    }
  )
})
