import { spawnSync } from 'node:child_process'
import { pythonCommand } from '../../src-main/ground/python'

/** The Python that the program starts. */
export const python = pythonCommand()

/** Whether it can import these. */
export const pythonHas = (...packages: string[]): boolean =>
  spawnSync(python, ['-c', packages.map((name) => `import ${name}`).join('\n')], {
    stdio: 'ignore'
  }).status === 0
