/** The views of the page, in the order of its rail: what addresses and `blockscope open --view` name. */
export const viewIds = [
  'devices',
  'validate',
  'sweep',
  'formats',
  'layouts',
  'profile',
  'timeline',
  'runs',
  'capture'
] as const
export type ViewId = (typeof viewIds)[number]
