"""torch._grouped_mm and _scaled_grouped_mm: the experts of a layer in one launch, in bf16 and in fp8 with a scale for each row, from
sm_90 on. Run on an NVIDIA H200 with torch 2.11 (validated, not timed).

torch is told where groups end: padding of contiguous groups is multiplied with the group before it, and its rows of C are not looked at.
"""

LARGEST_E4M3 = 448.0
FORMATS = ("nvfp4", "mxfp4", "mxfp8", "mxfp8_e5m2", "mixed")


class _Grouped:
    device = "cuda"
    baseline = True
    takes = ["grouped"]
    # What torch writes for groups.
    outputs = ["bf16"]

    def detect(self):
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch sees no GPU.")
        major, minor = torch.cuda.get_device_capability()
        if (major, minor) < (9, 0):
            raise RuntimeError(f"torch.{self.function} takes groups from sm_90 on; this is sm_{major}{minor}.")
        if not hasattr(torch, self.function):
            raise RuntimeError(f"torch {torch.__version__} has no {self.function}; take a newer one.")
        return f"torch {torch.__version__}"

    def prepare(self, operands):
        import torch

        groups = operands.groups
        if groups is None:
            raise NotImplementedError(f"torch.{self.function} is for groups.")
        if groups.layout == "masked":
            raise NotImplementedError(f"torch.{self.function} takes groups that stand behind one another.")
        if operands.k % 16 or operands.n % 16:
            raise NotImplementedError(f"torch.{self.function} takes N and K that are multiples of 16.")
        self.ends = torch.tensor([*groups.starts[1:], operands.m], dtype=torch.int32, device="cuda")
        # Scales of padding rows are NaN.
        a = (operands.values("a") * operands.a_tensor_scale).nan_to_num()
        self.take(a, operands.values("b") * operands.b_tensor_scale)


class GroupedBf16(_Grouped):
    """torch._grouped_mm on bf16 operands dequantised beforehand"""

    id = "torch-grouped-bf16"
    function = "_grouped_mm"
    operand_bits = 16
    formats = {format: {"level": "exact", "instruction": "bf16"} for format in FORMATS}

    def take(self, a, b):
        self.a, self.b = a.bfloat16(), b.bfloat16().transpose(-2, -1)

    def run(self):
        import torch

        return torch._grouped_mm(self.a, self.b, offs=self.ends)


class GroupedFp8(_Grouped):
    """torch._scaled_grouped_mm, fp8 with a scale for each row, operands quantised anew beforehand"""

    id = "torch-grouped-fp8"
    function = "_scaled_grouped_mm"
    operand_bits = 8
    formats = {format: {"level": "approximate", "instruction": "fp8"} for format in FORMATS}

    def take(self, a, b):
        (self.a, self.a_scales), (codes, self.b_scales) = self.quantised(a), self.quantised(b)
        self.b = codes.transpose(-2, -1)

    def quantised(self, values):
        """(e4m3 values, float32 scale of each row)."""
        import torch

        scales = values.abs().amax(dim=-1).clamp(min=1e-30) / LARGEST_E4M3
        return (values / scales[..., None]).to(torch.float8_e4m3fn), scales

    def run(self):
        import torch

        given = {"offs": self.ends, "out_dtype": torch.bfloat16, "use_fast_accum": True}
        return torch._scaled_grouped_mm(self.a, self.b, self.a_scales, self.b_scales, **given)
