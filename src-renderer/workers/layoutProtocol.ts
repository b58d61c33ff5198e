/** What the Layouts view asks of its worker. */
import type { ProductDetection } from '@shared/layouts/detectProduct'
import type { ScaleLayout } from '@shared/layouts/layout'

export interface LayoutRequest {
  id: number
  /** Packed scales of one side. */
  packed: Uint8Array
  side: 'a' | 'b'
  /** Operands and product in a .safetensors file. */
  operands: Blob
  name: string
  layouts: ScaleLayout[]
}

export interface ProductAnswer {
  detection: ProductDetection
  lines: string[]
}
