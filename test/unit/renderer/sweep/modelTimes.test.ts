/** What a step of a model takes, layer beside layer: of runs of an H200. */
import { readFileSync } from 'node:fs'
import { mount } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'
import * as v from 'valibot'
import { runSchema } from '@shared/contract/run'
import { modelTimesOf } from '@shared/measurement/modelTime'
import ModelTimes from '../../../../src-renderer/views/sweep/ModelTimes.vue'

const saved = (name: string) =>
  v.parse(runSchema, JSON.parse(readFileSync(`docs/results/${name}/run.json`, 'utf8')))
const shown = (times: ReturnType<typeof modelTimesOf>) => mount(ModelTimes, { props: { times } })
const percentOf = (style: string | undefined) => Number(/width: ([\d.]+)%/.exec(style ?? '')![1])

describe("the model's linear layers", () => {
  const times = modelTimesOf(saved('h200-gpt-oss-120b'))
  const view = shown(times)

  it('stand by tokens, a format a row, the fastest in bold', () => {
    expect(view.findAll('th[scope=rowgroup]').map((head) => head.text())).toEqual([
      '16 tokens',
      '4,096 tokens'
    ])
    expect(view.findAll('strong')).toHaveLength(2)
    for (const body of view.findAll('tbody')) {
      const rows = body.findAll('tr').slice(1)
      expect(rows.map((row) => row.get('th').text())).toEqual(['mxfp4', 'mxfp8', 'mixed', 'nvfp4'])
      const lengths = rows.map((row) =>
        row.findAll('.layer').reduce((sum, one) => sum + percentOf(one.attributes('style')), 0)
      )
      expect(Math.max(...lengths)).toBeCloseTo(100)
      const fastest = rows.findIndex((row) => row.find('strong').exists())
      expect(lengths[fastest]).toBe(Math.min(...lengths))
    }
  })

  it('say which is worth tuning most, and what each takes', () => {
    const row = view.findAll('tbody').at(0)!.findAll('tr').at(1)!
    const time = times.find(({ tokens, format }) => tokens === 16 && format === 'mxfp4')!
    const most = time.layers.reduce((a, b) => (b.gain > a.gain ? b : a))
    expect(row.get('.advice').text()).toMatch(
      new RegExp(`^${most.row.name}, \\d+ % of it: at most \\d+ %$`)
    )
    expect(row.findAll('.most').map((part) => part.attributes('title'))).toEqual([
      expect.stringMatching(`^${most.row.name}: .* by ${most.kernel}, .* at its limit$`)
    ])
    const hatched = row.get('.most .above').attributes('style')
    const limit = Number(/margin-left: ([\d.]+)%/.exec(hatched!)![1]) / 100
    expect((1 - limit) * most.share).toBeCloseTo(most.gain)
  })

  it('say what was not timed, and where no limit is known', () => {
    const [time] = times
    const unknown = time!.layers.map((layer) => ({
      ...layer,
      limitNs: undefined,
      gain: layer.share
    }))
    const text = shown([{ ...time!, tokens: undefined, layers: unknown, missing: ['o'] }]).text()
    expect(text).toContain(', were it free')
    expect(text).toContain('(not timed: o)')
  })
})
