/** The Python that is started wherever one is needed: BLOCKSCOPE_PYTHON, else `python3` of PATH. */
export const pythonCommand = (env: NodeJS.ProcessEnv = process.env): string =>
  env.BLOCKSCOPE_PYTHON || 'python3'
