"""A kernel of your own in cuTile. Fill in matmul(), prepare() and run(); docs/providers.md says what else there is."""

import cuda.tile as ct
import torch


@ct.kernel
def matmul(a, b, a_scales, b_scales, c, steps: ct.Constant[int]):
    row, column = ct.bid(0), ct.bid(1)
    total = ct.full((128, 128), 0.0, dtype=ct.float32)
    for step in range(steps):
        x = ct.load(a, index=(row, step), shape=(128, 128))
        y = ct.load(b, index=(column, step), shape=(128, 128))
        x_scale = ct.load(a_scales, index=(row, step), shape=(128, 4))
        y_scale = ct.load(b_scales, index=(column, step), shape=(128, 4))
        total = ct.mma_scaled(x, x_scale, ct.transpose(y), ct.transpose(y_scale), total)
    ct.store(c, index=(row, column), tile=ct.astype(total, c.dtype))


class MyKernel:
    """ct.mma_scaled, M, N and K multiples of 128"""

    id = "my-kernel"
    device = "cuda"
    formats = {"mxfp8": "native"}
    scale_layout = "linear"  # or nvidia_32_4_4, ...: "blockscope layout list"
    install = "pip install cuda-tile"

    def detect(self):
        # Raise a RuntimeError that says why where it cannot run; what is returned is shown as its version.
        return f"cuda.tile {getattr(ct, '__version__', '')}"

    def prepare(self, operands):
        # Not timed: once for each set of operands. Conversions that your users pay for belong into run().
        self.operands = operands
        self.elements = [codes.view(torch.float8_e4m3fn) for codes in (operands.a, operands.b)]
        self.scales = [scales.view(torch.float8_e8m0fnu) for scales in (operands.a_scales, operands.b_scales)]

    def run(self):
        # Timed. Fills operands.c, or returns C.
        o = self.operands
        grid = (o.m // 128, o.n // 128)
        ct.launch(torch.cuda.current_stream(), grid, matmul, (*self.elements, *self.scales, o.c, o.k // 128))
