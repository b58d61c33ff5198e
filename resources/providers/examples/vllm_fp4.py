"""vLLM's NVFP4 products: CUTLASS for sm_100 and later, and Marlin, which keeps A in bf16, for older GPUs. NOT RUN: vLLM was not
installed."""


class VllmCutlassFp4:
    """vLLM cutlass_scaled_fp4_mm (not run)"""

    id = "vllm-cutlass-fp4"
    device = "cuda"
    scale_layout = "nvidia_32_4_4"
    formats = {"nvfp4": {"level": "native", "instruction": "fp4"}}
    outputs = ["f16", "bf16"]

    def detect(self):
        import vllm
        from vllm import _custom_ops as ops
        import torch

        major, minor = torch.cuda.get_device_capability()
        if not ops.cutlass_scaled_mm_supports_fp4(major * 10 + minor):
            raise RuntimeError(f"vLLM's CUTLASS kernels have no FP4 for sm_{major}{minor}.")
        return f"vllm {vllm.__version__}"

    def prepare(self, operands):
        import torch

        self.operands = operands
        self.scales = [
            scales.view(torch.float8_e4m3fn).reshape(scales.shape[0] * 128, scales.shape[1] * 4)
            for scales in (operands.a_scales, operands.b_scales)
        ]
        self.alpha = torch.tensor([operands.a_tensor_scale * operands.b_tensor_scale], device="cuda")

    def run(self):
        from vllm import _custom_ops as ops

        o = self.operands
        return ops.cutlass_scaled_fp4_mm(o.a, o.b, *self.scales, self.alpha, o.c.dtype)


class VllmMarlinFp4:
    """vLLM Marlin, bf16 x NVFP4, A converted and B repacked beforehand (not run)"""

    id = "vllm-marlin-fp4"
    device = "cuda"
    baseline = True
    formats = {"nvfp4": {"level": "exact", "instruction": "bf16"}}
    outputs = ["bf16"]

    def detect(self):
        import vllm
        from vllm.model_executor.layers.quantization.utils import marlin_utils_fp4

        if not marlin_utils_fp4.is_fp4_marlin_supported():
            raise RuntimeError("vLLM's Marlin has no FP4 for this GPU.")
        return f"vllm {vllm.__version__}"

    def prepare(self, operands):
        import torch
        from vllm.model_executor.layers.quantization.utils.marlin_utils_fp4 import prepare_fp4_layer_for_marlin

        layer = torch.nn.Module()
        layer.params_dtype = torch.bfloat16
        layer.output_size_per_partition, layer.input_size_per_partition = operands.n, operands.k

        def parameter(tensor):
            return torch.nn.Parameter(tensor, requires_grad=False)

        layer.weight = parameter(operands.b.clone())
        layer.weight_scale = parameter(operands.b_scales.view(torch.float8_e4m3fn).clone())
        both = operands.a_tensor_scale * operands.b_tensor_scale
        # Called one way until 2025 and the other since.
        layer.weight_scale_2 = layer.weight_global_scale = parameter(torch.tensor(both, device="cuda"))
        prepare_fp4_layer_for_marlin(layer)
        self.operands, self.layer, self.a = operands, layer, operands.values("a").bfloat16()

    def run(self):
        from vllm.model_executor.layers.quantization.utils.marlin_utils_fp4 import apply_fp4_marlin_linear

        layer = self.layer
        scale = getattr(layer, "weight_global_scale", layer.weight_scale_2)
        return apply_fp4_marlin_linear(
            self.a, layer.weight, layer.weight_scale, scale, layer.workspace, self.operands.n, self.operands.k
        )
