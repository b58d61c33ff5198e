"""A kernel of your own in Triton. Fill in matmul(), prepare() and run(); docs/providers.md says what else there is."""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, a_scales, b_scales, c, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        s = start // 32 + tl.arange(0, BLOCK_K // 32)
        total = tl.dot_scaled(
            tl.load(a + m[:, None] * K + k[None, :]), tl.load(a_scales + m[:, None] * (K // 32) + s[None, :]), "e4m3",
            tl.load(b + n[None, :] * K + k[:, None]), tl.load(b_scales + n[:, None] * (K // 32) + s[None, :]), "e4m3",
            total,
        )
    tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty))


class MyKernel:
    """tl.dot_scaled, M, N and K multiples of 128"""

    id = "my-kernel"
    device = "cuda"
    formats = ["mxfp8"]
    scale_layout = "linear"  # or nvidia_32_4_4, ...: "blockscope layout list"
    # Each is tried, and the best is measured; without them, run() chooses for itself.
    configurations = [{"warps": 4, "stages": 3}, {"warps": 8, "stages": 3}]

    def detect(self):
        # Raise a RuntimeError that says why where it cannot run; what is returned is shown as its version.
        return f"{triton.__version__}, torch {torch.__version__}"

    def prepare(self, operands):
        # Not timed: once for each set of operands. Conversions that your users pay for belong into run().
        self.operands = operands

    def run(self):
        # Timed. Fills operands.c, or returns C.
        o = self.operands
        matmul[(o.m // 128, o.n // 128)](
            o.a, o.b, o.a_scales, o.b_scales, o.c, o.n, o.k, BLOCK_M=128, BLOCK_N=128, BLOCK_K=128,
            num_warps=self.configuration["warps"], num_stages=self.configuration["stages"],
        )
