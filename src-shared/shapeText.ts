/** 'MxNxK', as flags, links between views and rules name a product. */

export interface ShapeOfProduct {
  m: number
  n: number
  k: number
}

/** Whole numbers from 1 on: '8192x8192x4096'; undefined where the text is no shape. */
export function parseShapeText(text: string): ShapeOfProduct | undefined {
  const [, m, n, k] = /^([1-9]\d{0,14})x([1-9]\d{0,14})x([1-9]\d{0,14})$/i.exec(text) ?? []
  return m && n && k ? { m: Number(m), n: Number(n), k: Number(k) } : undefined
}
