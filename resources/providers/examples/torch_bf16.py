"""torch.matmul on bf16 operands that were dequantised beforehand: what a block-scaled kernel is to beat. Run on an NVIDIA H200 with torch 2.11."""

FORMATS = ("nvfp4", "mxfp4", "mxfp4_b16", "mxfp8", "mxfp8_e5m2", "mxfp8_e4m3_e5m2", "mixed", "mxfp6_e2m3", "mxfp6_e3m2")


class TorchBf16:
    """torch.matmul on bf16 operands dequantised beforehand"""

    id = "torch-bf16"
    device = "cuda"
    baseline = True
    operand_bits = 16
    formats = {format: {"level": "exact", "instruction": "bf16"} for format in FORMATS}

    def detect(self):
        import torch

        return f"torch {torch.__version__}"

    def prepare(self, operands):
        self.operands = operands
        self.a = operands.values("a").bfloat16()
        self.b = operands.values("b").bfloat16().T
        self.alpha = operands.a_tensor_scale * operands.b_tensor_scale

    def run(self):
        import torch

        product = torch.matmul(self.a, self.b)
        return (product if self.alpha == 1 else product * self.alpha).to(self.operands.c.dtype)
