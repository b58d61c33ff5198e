/** What each call of a frame takes, as bars in the order of the profile. */
export interface CallBars {
  /** 0 to 1 of the largest. */
  heights: number[]
  /** A call of each bar: the largest that it stands for. */
  nodes: number[]
  /** The bar of the selected call; -1 where it is not among them. */
  own: number
  /** Largest over smallest. */
  ratio: number
}

const mostBars = 160

/** More calls than bars have room are put together, and a bar is as high as the largest of its calls. */
export function barsOf(weights: Float64Array, calls: Int32Array, selected: number): CallBars {
  const bars = Math.min(mostBars, calls.length)
  const largest = weights.reduce((a, b) => Math.max(a, b), 0)
  const smallest = weights.reduce((a, b) => Math.min(a, b), Infinity)
  const heights: number[] = []
  const nodes: number[] = []
  let own = -1
  for (let bar = 0; bar < bars; bar++) {
    const from = Math.floor((bar * calls.length) / bars)
    const to = Math.floor(((bar + 1) * calls.length) / bars)
    let best = from
    for (let at = from; at < to; at++) {
      if (weights[at]! > weights[best]!) best = at
      if (calls[at] === selected) own = bar
    }
    heights.push(largest > 0 ? weights[best]! / largest : 0)
    nodes.push(calls[best]!)
  }
  return { heights, nodes, own, ratio: largest / smallest }
}
