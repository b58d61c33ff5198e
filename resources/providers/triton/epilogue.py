"""What becomes of a tile of products before it is stored; the same for all of Triton's kernels that take more than A x B."""

import triton
import triton.language as tl


@triton.jit
def finished(
    total, alpha, accumulator_ptr, at, inside, output_scale,
    ACCUMULATE: tl.constexpr, MOST: tl.constexpr,
):
    """alpha total (+ accumulator), float32; for a type of C of eight bits scaled and held to its largest value MOST, NaN kept."""
    c = total * alpha
    if ACCUMULATE:
        c += tl.load(accumulator_ptr + at, mask=inside, other=0.0)
    if MOST > 0:
        c = tl.clamp(c * output_scale, -MOST, MOST, propagate_nan=tl.PropagateNan.ALL)
    return c
