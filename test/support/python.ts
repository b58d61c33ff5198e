import { spawnSync } from 'node:child_process'

/** The Python that the program starts. */
export const python = process.env.BLOCKSCOPE_PYTHON || 'python3'

/** Whether it can import these. */
export const pythonHas = (...packages: string[]): boolean =>
  spawnSync(python, ['-c', packages.map((name) => `import ${name}`).join('\n')], {
    stdio: 'ignore'
  }).status === 0
