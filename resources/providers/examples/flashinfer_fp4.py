"""FlashInfer's mm_fp4: NVFP4 and MXFP4 for sm_100 and later, the back end it chooses itself. NOT RUN: no such GPU was at hand.

Signature: https://docs.flashinfer.ai/generated/flashinfer.gemm.mm_fp4.html.
"""


class FlashInferFp4:
    """FlashInfer mm_fp4 (not run)"""

    id = "flashinfer-mm-fp4"
    device = "cuda"
    scale_layout = "nvidia_32_4_4"
    formats = {format: {"level": "native", "instruction": "fp4"} for format in ("nvfp4", "mxfp4")}
    outputs = ["f16", "bf16"]
    install = "pip install flashinfer-python"

    def detect(self):
        import flashinfer
        import torch

        major, minor = torch.cuda.get_device_capability()
        if major < 10:
            raise RuntimeError(f"FlashInfer's mm_fp4 is for sm_100 and later; this is sm_{major}{minor}.")
        return f"flashinfer {flashinfer.__version__}"

    def prepare(self, operands):
        import torch

        self.operands = operands
        # (rows padded to 128, scales padded to 4), whatever the order inside.
        shapes = [(scales.shape[0] * 128, scales.shape[1] * 4) for scales in (operands.a_scales, operands.b_scales)]
        kind = torch.float8_e4m3fn if operands.format == "nvfp4" else torch.uint8
        self.a_scales = operands.a_scales.view(kind).reshape(shapes[0])
        self.b_scales = operands.b_scales.view(kind).reshape(shapes[1]).T
        self.alpha = torch.tensor([operands.a_tensor_scale * operands.b_tensor_scale], device="cuda")

    def run(self):
        import flashinfer

        o = self.operands
        is_nvfp4 = o.format == "nvfp4"
        flashinfer.mm_fp4(
            o.a, o.b.T, self.a_scales, self.b_scales, self.alpha, o.c.dtype, o.c,
            block_size=o.scale_block, use_nvfp4=is_nvfp4,
        )
