/** The host of Python kernels plans samples as native/core/measure.cpp does (native/test/sampling reads the same file). */
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { python, pythonHas } from '../../support/python'
import { samplePlans } from '../../support/samplePlans'

// Devices give two fifths of their free memory.
const program = `import json, sys
sys.path.insert(0, "resources/providers")
from blockscope_host.product import cold_plan
from blockscope_host.sampling import grouping_of

plans = json.load(sys.stdin)
cold = [cold_plan(one["bytes"], one["cache"], one["free"] * 2 // 5) for one in plans["cold"]]
groups = [grouping_of(one["ns"], one["sets"], one["flushes"]) for one in plans["groups"]]
print(json.dumps({"cold": cold, "groups": groups}))`

describe.skipIf(!pythonHas())('the host of Python kernels', () => {
  it('takes as many operand sets, flushes and launches a sample as the addon', () => {
    const plans = samplePlans()
    const { stdout, stderr } = spawnSync(python, ['-c', program], {
      input: JSON.stringify(plans),
      encoding: 'utf8'
    })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({
      cold: plans.cold.map(({ sets, flushes }) => [sets, flushes]),
      groups: plans.groups.map(({ launches, samples }) => [launches, samples])
    })
  })
})
