import type { MessageBoxOptions } from 'electron'
import { expect, it, vi } from 'vitest'
import { askBeforeProgram } from '../../../../src-main/desktop/allowProgram'

it('a program that is to be captured: the person is told all that would be started, and Cancel is the default', async () => {
  const asked: MessageBoxOptions[] = []
  let response = 1
  const showMessageBox = vi.fn(async (options: MessageBoxOptions) => {
    asked.push(options)
    return { response, checkboxChecked: false }
  })
  const allow = askBeforeProgram({ showMessageBox } as never, () => undefined)
  const spec = {
    command: ['python', 'my train.py'],
    workingFolder: '/data',
    environment: { LD_LIBRARY_PATH: '/a b' },
    ...{
      afterMs: 0,
      waits: false,
      wholeGraphs: false,
      python: false,
      counters: [],
      endProgram: false
    }
  }
  expect(await allow(spec)).toBe(false)
  expect(asked[0]).toMatchObject({
    message: 'Start python and capture it?',
    detail: `python 'my train.py'\nin /data\nwith 'LD_LIBRARY_PATH=/a b'\nIt is a program: it can do whatever you can on this computer.`,
    ...{ defaultId: 1, cancelId: 1 }
  })
  response = 0
  expect(await allow(spec)).toBe(true)
  // Each time: another command may be behind the same words of a page.
  expect(showMessageBox).toHaveBeenCalledTimes(2)
})
