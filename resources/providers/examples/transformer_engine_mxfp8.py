"""TransformerEngine's Linear under the MXFP8 recipe, for sm_100 and later. NOT RUN: it was not installed.

It quantises its bf16 activations itself on every call, which is timed; the weight is quantised once. What it multiplies are
therefore its own scales: a baseline.
"""


class TransformerEngineMxfp8:
    """TransformerEngine Linear, MXFP8 recipe, A quantised on every call (not run)"""

    id = "transformer-engine-mxfp8"
    device = "cuda"
    baseline = True
    operand_bits = 16
    formats = {"mxfp8": {"level": "native", "instruction": "fp8"}}
    outputs = ["bf16"]
    install = "pip install 'transformer-engine[pytorch]'"

    def detect(self):
        import transformer_engine
        import transformer_engine.pytorch  # noqa: F401
        import torch

        major, minor = torch.cuda.get_device_capability()
        if major < 10:
            raise RuntimeError(f"TransformerEngine's MXFP8 is for sm_100 and later; this is sm_{major}{minor}.")
        return f"transformer_engine {transformer_engine.__version__}"

    def prepare(self, operands):
        import torch
        import transformer_engine.pytorch as te

        if operands.m % 32 or operands.n % 32:
            raise NotImplementedError("Its MXFP8 takes M and N as multiples of 32.")
        self.a = operands.values("a").bfloat16()
        self.layer = te.Linear(operands.k, operands.n, bias=False, params_dtype=torch.bfloat16, device="cuda")
        with torch.no_grad():
            self.layer.weight.copy_(operands.values("b").bfloat16())
        self.multiply(is_first=True)

    def multiply(self, is_first):
        import torch
        import transformer_engine.pytorch as te
        from transformer_engine.common.recipe import MXFP8BlockScaling

        # The first call quantises the weight and keeps it.
        with torch.no_grad(), te.fp8_autocast(enabled=True, fp8_recipe=MXFP8BlockScaling()):
            return self.layer(self.a, is_first_microbatch=is_first)

    def run(self):
        return self.multiply(is_first=False)
