"""torch._scaled_mm: cuBLASLt's block-scaled product through PyTorch, for sm_100 and later. NOT RUN: no such GPU was at hand.

Scales lie in 128 x 4 tiles, as torch asks for them (pytorch/pytorch pull request 147548 and docs of cuBLASLt).
"""


class _BlockScaledMm:
    device = "cuda"
    scale_layout = "nvidia_32_4_4"

    def detect(self):
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch sees no GPU.")
        major, minor = torch.cuda.get_device_capability()
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
