"""torch._scaled_mm: cuBLASLt's block-scaled product through PyTorch, for sm_100 and later; and fp8 with a scale for each row, from
sm_89 on, which was run on an NVIDIA H200 with torch 2.11. The former: NOT RUN.

Block scales lie in 128 x 4 tiles, as torch asks for them (pytorch/pytorch pull request 147548 and docs of cuBLASLt).
"""

LARGEST_E4M3 = 448.0


def _capability():
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch sees no GPU.")
    return torch.cuda.get_device_capability()


class _BlockScaledMm:
    device = "cuda"
    scale_layout = "nvidia_32_4_4"

    def detect(self):
        import torch

        major, minor = _capability()
        if major < 10:
            raise RuntimeError(f"torch._scaled_mm takes block scales from sm_100 on; this is sm_{major}{minor}.")
        for name in self.types:
            if not hasattr(torch, name):
                raise RuntimeError(f"torch {torch.__version__} has no {name}; take a newer one.")
        return f"torch {torch.__version__}"

    def prepare(self, operands):
        import torch

        self.operands = operands
        element, scale = (getattr(torch, name) for name in self.types)
        self.a, self.b = operands.a.view(element), operands.b.view(element).t()
        self.scales = [scales.view(scale).flatten() for scales in (operands.a_scales, operands.b_scales)]
        self.alpha = operands.a_tensor_scale * operands.b_tensor_scale

    def run(self):
        import torch

        c = torch._scaled_mm(self.a, self.b, *self.scales, out_dtype=self.operands.c.dtype)
        return c if self.alpha == 1 else c * self.alpha


class ScaledMmMxfp8(_BlockScaledMm):
    """torch._scaled_mm, MXFP8 (not run)"""

    id = "torch-scaled-mm-mxfp8"
    types = ("float8_e4m3fn", "float8_e8m0fnu")
    formats = {"mxfp8": {"level": "native", "instruction": "fp8"}}


class ScaledMmNvfp4(_BlockScaledMm):
    """torch._scaled_mm, NVFP4 (not run)"""

    id = "torch-scaled-mm-nvfp4"
    types = ("float4_e2m1fn_x2", "float8_e4m3fn")
    formats = {"nvfp4": {"level": "native", "instruction": "fp4"}}


class ScaledMmRows:
    """torch._scaled_mm, fp8 with a scale for each row, operands quantised anew beforehand"""

    id = "torch-scaled-mm-fp8"
    device = "cuda"
    baseline = True
    operand_bits = 8
    formats = {format: {"level": "approximate", "instruction": "fp8"} for format in ("mxfp4", "mxfp8", "mixed", "nvfp4")}
    # Scales of rows come with bf16 alone.
    outputs = ["bf16"]

    def detect(self):
        import torch

        major, minor = _capability()
        if (major, minor) < (8, 9):
            raise RuntimeError(f"torch._scaled_mm takes fp8 from sm_89 on; this is sm_{major}{minor}.")
        return f"torch {torch.__version__}"

    def prepare(self, operands):
        if operands.k % 16 or operands.n % 16:
            raise NotImplementedError("torch._scaled_mm takes N and K that are multiples of 16.")
        self.a, self.a_scales = self.quantised(operands.values("a") * operands.a_tensor_scale)
        b, b_scales = self.quantised(operands.values("b") * operands.b_tensor_scale)
        self.b, self.b_scales = b.t(), b_scales.t()

    def quantised(self, values):
        """(e4m3 values, float32 scale of each row)."""
        import torch

        scales = values.abs().amax(dim=1, keepdim=True).clamp(min=1e-30) / LARGEST_E4M3
        return (values / scales).to(torch.float8_e4m3fn), scales

    def run(self):
        import torch

        scales = {"scale_a": self.a_scales, "scale_b": self.b_scales}
        return torch._scaled_mm(self.a, self.b, **scales, out_dtype=torch.bfloat16, use_fast_accum=True)
