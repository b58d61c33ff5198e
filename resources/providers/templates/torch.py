"""A kernel of your own in PyTorch. Fill in prepare() and run(); docs/providers.md says what else there is."""

import torch


class MyKernel:
    """Dequantised to float32, then torch's product"""

    id = "my-kernel"
    device = "cuda"
    formats = {"nvfp4": "exact", "mxfp4": "exact", "mxfp8": "exact", "mixed": "exact"}
    codes = "bytes"  # one code a byte; "packed": fp4 two to a byte, the even one low
    outputs = ["f16", "bf16", "f32", "e4m3", "e5m2"]
    takes = ["accumulator", "batch"]  # beside the plain product; [] keeps to that

    def detect(self):
        # Raise a RuntimeError that says why where it cannot run; what is returned is shown as its version.
        return f"torch {torch.__version__}"

    def prepare(self, operands):
        # Not timed: once for each set of operands. Conversions that your users pay for belong into run().
        self.operands = operands
        self.tables = [operands.table(name) for name in ("a", "b", "scale")]

    def values(self, table, codes, scales):
        blocks = table[codes.int()].reshape(*scales.shape, self.operands.scale_block)
        return (blocks * self.tables[2][scales.int()].unsqueeze(-1)).reshape(codes.shape)

    def run(self):
        # Timed. Fills operands.c, or returns C.
        operands, (a_table, b_table, _) = self.operands, self.tables
        a = self.values(a_table, operands.a, operands.a_scales)
        b = self.values(b_table, operands.b, operands.b_scales)
        # Of bfloat16 operands torch rounds the product to bfloat16 too: half of C would be outside the tolerance.
        product = torch.matmul(a, b.mT) * (operands.a_tensor_scale * operands.b_tensor_scale)
        if operands.accumulator is not None:
            product += operands.accumulator
        return operands.rounded(product)
