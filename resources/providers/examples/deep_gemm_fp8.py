"""DeepGEMM's fp8_gemm_nt: fp8 with float32 scales per 1 x 128 of A and 128 x 128 of B. NOT RUN: it was not installed.

Its scales are coarser than those of the block-scaled formats: a baseline, whose operands are quantised anew beforehand.
"""

BLOCK = 128
LARGEST_E4M3 = 448.0


class DeepGemmFp8:
    """DeepGEMM fp8_gemm_nt, scales per 128, operands quantised anew beforehand (not run)"""

    id = "deepgemm-fp8"
    device = "cuda"
    baseline = True
    operand_bits = 8
    formats = {format: {"level": "approximate", "instruction": "fp8"} for format in ("mxfp4", "mxfp8", "mixed", "nvfp4")}
    outputs = ["bf16"]
    install = "build it from https://github.com/deepseek-ai/DeepGEMM"

    def detect(self):
        import deep_gemm

        return f"deep_gemm {getattr(deep_gemm, '__version__', '')}"

    def prepare(self, operands):
        if operands.k % BLOCK or operands.n % BLOCK:
            raise NotImplementedError(f"Its scales are per {BLOCK}: N and K are multiples of that.")
        self.operands = operands
        self.alpha = operands.a_tensor_scale * operands.b_tensor_scale
        self.a = self.quantised(operands.values("a") * self.alpha, 1)
        self.b = self.quantised(operands.values("b"), BLOCK)

    def quantised(self, values, rows):
        """(e4m3 values, float32 scale of each block of `rows` x 128)."""
        import torch

        blocks = values.reshape(values.shape[0] // rows, rows, values.shape[1] // BLOCK, BLOCK)
        scales = blocks.abs().amax(dim=(1, 3)).clamp(min=1e-30) / LARGEST_E4M3
        scaled = (blocks / scales[:, None, :, None]).reshape(values.shape)
        return scaled.to(torch.float8_e4m3fn), scales

    def run(self):
        import deep_gemm

        deep_gemm.fp8_gemm_nt(self.a, self.b, self.operands.c)
