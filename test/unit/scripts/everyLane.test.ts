/** What test/gpu/sanitize.mjs gives racecheck, without its GPU. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { listBuilds } from '../../../src-main/engine/machineCode/builds'
import { letEveryLaneArrive } from '../../gpu/everyLane.mjs'

const shipped = 'resources/kernels/cuda'
const folder = mkdtempSync(join(tmpdir(), 'blockscope-every-lane-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('every place where one lane arrives for its warp is there to be changed', () => {
  cpSync(shipped, folder, { recursive: true })
  letEveryLaneArrive(folder)
  const differs = (file: string) =>
    readFileSync(join(folder, file), 'utf8') !== readFileSync(join(shipped, file), 'utf8')
  const common = ['pipeline', 'gemm', 'gemm_codesLoad', 'decode', 'blockScale/gemm']
  expect(common.filter((name) => !differs(`common/${name}.cuh`))).toEqual([])
  expect(listBuilds(folder).map(({ name }) => name)).toEqual(
    listBuilds(shipped).map(({ name }) => name)
  )
  expect(() => letEveryLaneArrive(folder)).toThrow(/has no one place/)
})
