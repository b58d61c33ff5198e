"""triton_kernels' matmul_ogs with MXFP4 weights and bf16 activations, as gpt-oss runs it. NOT RUN: it was not installed.

A is converted to bf16 beforehand and B is shuffled as the package asks for: both are done once for a model, not timed here.
"""


class TritonKernelsMatmul:
    """triton_kernels matmul_ogs, bf16 x MXFP4, A converted beforehand (not run)"""

    id = "triton-kernels-w4a16"
    device = "cuda"
    baseline = True
    formats = {format: {"level": "exact", "instruction": "bf16"} for format in ("mxfp4", "mixed")}
    outputs = ["bf16"]
    install = "pip install 'git+https://github.com/triton-lang/triton#subdirectory=python/triton_kernels'"

    def detect(self):
        import triton_kernels.matmul_ogs  # noqa: F401
        from importlib.metadata import version

        return f"triton_kernels {version('triton_kernels')}"

    def prepare(self, operands):
        from triton_kernels.matmul_ogs import FlexCtx, PrecisionConfig
        from triton_kernels.numerics import InFlexData
        from triton_kernels.tensor import FP4, convert_layout, wrap_torch_tensor
        from triton_kernels.tensor_details import layout

        value_layout, value_options = layout.make_default_matmul_mxfp4_w_layout(mx_axis=1)
        scale_layout, scale_options = layout.make_default_matmul_mxfp4_w_scale_layout(mx_axis=1, num_warps=8)
        # One expert: (1, K / 2, N) and (1, K / 32, N), with K running fastest.
        weight = wrap_torch_tensor(operands.b.unsqueeze(0).transpose(-2, -1), dtype=FP4)
        scale = wrap_torch_tensor(operands.b_scales.unsqueeze(0).transpose(-2, -1))
        self.weight = convert_layout(weight, value_layout, **value_options)
        scale = convert_layout(scale, scale_layout, **scale_options)
        self.precision = PrecisionConfig(weight_scale=scale, flex_ctx=FlexCtx(rhs_data=InFlexData()))
        self.operands, self.a = operands, operands.values("a").bfloat16().unsqueeze(0)

    def run(self):
        from triton_kernels.matmul_ogs import matmul_ogs

        c = matmul_ogs(self.a, self.weight, None, precision_config=self.precision)
        return c.reshape(self.operands.m, self.operands.n)
