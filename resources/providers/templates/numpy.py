"""A kernel of your own on the CPU. Fill in prepare() and run(); docs/providers.md says what else there is."""

import numpy


class MyKernel:
    """Dequantised to float32, then numpy's product"""

    id = "my-kernel"
    device = "cpu"
    formats = ["nvfp4", "mxfp4", "mxfp8", "mixed"]
    codes = "bytes"  # one code a byte; "packed": fp4 two to a byte, the even one low
    outputs = ["f16", "bf16", "f32", "e4m3", "e5m2"]
    takes = ["b-kn", "accumulator", "batch", "grouped"]  # beside the plain product; [] keeps to that

    def detect(self):
        # Raise a RuntimeError that says why where it cannot run; what is returned is shown as its version.
        return f"numpy {numpy.__version__}"

    def prepare(self, operands):
        # Not timed: once for each set of operands. Conversions that your users pay for belong into run().
        self.operands = operands
        self.tables = [operands.table(name) for name in ("a", "b", "scale")]

    def run(self):
        # Timed. Fills operands.c, or returns C.
        operands, (a_table, b_table, scale_table) = self.operands, self.tables
        along_k = -2 if operands.b_order == "kn" else -1
        a_scales = numpy.repeat(scale_table[operands.a_scales], operands.scale_block, axis=-1)
        b_scales = numpy.repeat(scale_table[operands.b_scales], operands.scale_block, axis=along_k)
        a, b = a_table[operands.a] * a_scales, b_table[operands.b] * b_scales
        b = b if along_k == -2 else b.swapaxes(-1, -2)
        product = a @ b if operands.groups is None else self.grouped(a, b)
        product *= operands.a_tensor_scale * operands.b_tensor_scale
        if operands.accumulator is not None:
            product += operands.accumulator
        operands.c[...] = operands.rounded(product)

    def grouped(self, a, b):
        groups = self.operands.groups
        product = numpy.zeros(self.operands.c.shape, numpy.float32)
        for matrix, start, rows in zip(b, groups.starts, groups.rows):
            product[start : start + rows] = a[start : start + rows] @ matrix
        return product
