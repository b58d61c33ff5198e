"""Triton's tl.dot_scaled as kernels of blockscope (docs/providers.md); what each reads and how is said in its class."""

import math
from concurrent.futures import ThreadPoolExecutor

import torch
import triton

from cdna4Kernel import block_scaled_matmul_cdna4
from descriptorKernel import block_scaled_matmul_tma
from dotScaled import FORMATS, MOST, gpu_name, has_instruction, lacks_format, lacks_target, packs_along_n
from pointerKernel import block_scaled_matmul


def tile(m, n, k, warps, stages):
    return {"tile": f"{m}x{n}x{k}", "warps": warps, "stages": stages}


def extents(configuration):
    return [int(extent) for extent in configuration["tile"].split("x")]


def instruction_of(format):
    """Class of the block-scaled instruction: fp4 where both operands are, else fp8."""
    return "fp4" if all(element == "e2m1" for element in FORMATS[format][:2]) else "fp8"


def current_gpu():
    return gpu_name(triton.runtime.driver.active.get_current_target())


class _DotScaled:
    """What the kernels share: operands as they are, types of C, and the grid over its tiles."""

    def detect(self):
        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch sees no GPU.")
        lacking = lacks_target(torch.cuda.get_device_capability()[0], triton.__version__)
        if lacking:
            raise RuntimeError(lacking)
        self.formats = self.formats_here()
        return f"{triton.__version__}, torch {torch.__version__}"

    def prepare(self, operands):
        self.operands = operands
        # Of C, or of the largest group.
        self.rows = operands.m if operands.groups is None else max(operands.groups.rows)
        self.a_element, self.b_element, self.block = FORMATS[operands.format]
        self.scales = [operands.a_scales, operands.b_scales]
        if operands.scale_element == "ue4m3":
            self.scales = [scale.view(torch.float8_e4m3fn) for scale in self.scales]
        # NVFP4's second level is one factor of the whole product.
        self.alpha = operands.a_tensor_scale * operands.b_tensor_scale

    def grid(self, block_m, block_n):
        operands = self.operands
        tiles = triton.cdiv(self.rows, block_m) * triton.cdiv(operands.n, block_n)
        return (tiles * (math.prod(operands.batch) if operands.groups is None else len(operands.groups.rows)),)

    def compile(self, configurations):
        """Side by side: Triton compiles each on one core."""
        with ThreadPoolExecutor() as pool, triton.AsyncCompileMode(pool, ignore_errors=True):
            for self.configuration in configurations:
                self.launch(only_compiled=True)

    def run(self):
        self.launch(only_compiled=False)


class _WholeOperation(_DotScaled):
    """A kernel that takes batches, accumulators, B in either order and types of C of eight bits."""

    outputs = ["f16", "bf16", "f32", "e4m3", "e5m2"]
    takes = {
        "b-kn": "it reads B either way; e2m1 packed along N on tcgen05 and gfx950 alone, with scales per 32",
        "accumulator": "added before C is rounded",
        "batch": "matrices are tiles behind one another in one launch",
    }

    def prepare(self, operands):
        super().prepare(operands)
        gpu = current_gpu()
        if operands.b_order == "kn" and not packs_along_n(operands.format, gpu):
            raise NotImplementedError(
                "Triton's tl.dot_scaled takes e2m1 packed along N on tcgen05 (sm_100 to sm_110) and gfx950 alone, with scales "
                f"per 32; this is {operands.format} on {gpu}. Give B as (N, K)."
            )
        # Which matrices of A and of B each of C is made of.
        self.matrices = [operands.matrices(side) for side in ("a", "b")] if operands.batch else [None, None]
        self.operation = {
            "B_KN": operands.b_order == "kn",
            "BATCHED": bool(operands.batch),
            "ACCUMULATE": operands.accumulator is not None,
            "MOST": MOST.get(operands.output, 0.0),
        }

    def arguments(self):
        o = self.operands
        pointers = (o.a, o.b, *self.scales, o.c, o.accumulator, *self.matrices)
        return (*pointers, self.rows, o.n, o.k, self.alpha, o.output_scale)


class DotScaled(_WholeOperation):
    """tl.dot_scaled over operands read through pointers, linear scales; best of several tiles"""

    id = "triton"
    takes = {**_WholeOperation.takes, "grouped": "groups are tiles behind one another in one launch; padding is not read"}
    fast_math = False
    # Small tiles serve small shapes and other GPUs.
    all_configurations = [
        tile(128, 256, 128, 8, 3),
        tile(128, 128, 128, 8, 3),
        tile(128, 128, 128, 4, 3),
        tile(256, 128, 128, 8, 3),
        tile(128, 128, 256, 8, 2),
        tile(128, 256, 64, 8, 4),
        tile(64, 128, 128, 4, 4),
    ]

    def prepare(self, operands):
        super().prepare(operands)
        groups = operands.groups
        self.operation["GROUPED"] = groups is not None
        if groups is not None:
            self.matrices = [groups.firsts(), groups.counts()]

    def formats_here(self):
        gpu = current_gpu()
        found = {}
        for name in FORMATS:
            native = has_instruction(name, gpu)
            if lacks_format(name, gpu):
                where = "on gfx950" if gpu == "gfx950" else "below sm_100: its compiler aborts"
                reason = f"Triton {triton.__version__} has no path for e4m3 scales {where}."
                found[name] = {"level": "unavailable", "reason": reason}
            elif not native:
                reason = "Triton upcasts both operands to bf16 in the kernel."
                found[name] = {"level": "exact", "reason": reason, "instruction": "bf16"}
            else:
                found[name] = {"level": "native", "reason": "Block-scaled instruction.", "instruction": instruction_of(name)}
        return found

    def configurations(self):
        k = self.operands.k
        able = [one for one in self.all_configurations if k % extents(one)[2] == 0]
        if not able:
            raise NotImplementedError(f"Its tiles take K as a multiple of 64; K={k}.")
        return able

    def launch(self, only_compiled):
        configuration = self.configuration
        block_m, block_n, block_k = extents(configuration)
        block_scaled_matmul.run(
            *self.arguments(), **self.operation, grid=self.grid(block_m, block_n), warmup=only_compiled,
            A_FORMAT=self.a_element, B_FORMAT=self.b_element, SCALE_BLOCK=self.block,
            BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=8, FAST_MATH=self.fast_math,
            num_warps=configuration["warps"], num_stages=configuration["stages"],
        )


class DotScaledFastMath(DotScaled):
    """tl.dot_scaled over operands read through pointers, linear scales, without the check for NaN scales"""

    id = "triton-fast-math"
    fast_math = True
    compile_options = "fast_math"


class DotScaledTma(_WholeOperation):
    """tl.dot_scaled as Triton's tutorial has it: operands and 5D scales through TMA descriptors, 128 x 256 tiles, 4 stages"""

    id = "triton-tma"
    scale_layout = "nvidia_32_4_4"

    def formats_here(self):
        gpu = current_gpu()
        if not gpu.startswith(("sm_10", "sm_11")):
            raise RuntimeError(f"Triton's block-scaled TMA kernel is for tcgen05 (sm_100 to sm_110); this is {gpu}.")
        return {
            name: {"level": "native", "reason": "tcgen05.mma with block_scale.", "instruction": instruction_of(name)}
            for name in FORMATS
        }

    def configurations(self):
        both_fp4 = instruction_of(self.operands.format) == "fp4"
        # A tile of the accumulator beside that of C takes twice the registers.
        warps = 8 if self.operands.accumulator is not None else 4
        return [tile(128, 256, 256 if both_fp4 else 128, warps, 4)]

    def prepare(self, operands):
        super().prepare(operands)
        rows = {"writes rows of C": operands.n * operands.c.element_size()}
        if operands.b_order == "kn":
            rows["reads rows of B"] = operands.b.shape[-1]
        for what, row_bytes in rows.items():
            if row_bytes % 16:
                raise NotImplementedError(f"TMA {what} that are multiples of 16 bytes; N={operands.n} takes {row_bytes}.")
        # The kernel makes its descriptors on the device, in memory that Triton asks for here.
        triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))

    def launch(self, only_compiled):
        configuration = self.configuration
        block_m, block_n, block_k = extents(configuration)
        block_scaled_matmul_tma.run(
            *self.arguments(), **self.operation, grid=self.grid(block_m, block_n), warmup=only_compiled,
            A_FORMAT=self.a_element, B_FORMAT=self.b_element, SCALE_BLOCK=self.block,
            BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, STAGES=configuration["stages"],
            num_warps=configuration["warps"],
        )


class DotScaledCdna4Mfma32(_DotScaled):
    """tl.dot_scaled for CDNA4 over shuffled scales, v_mfma_scale 32x32x64; not run"""

    id = "triton-cdna4-mfma32"
    scale_layout = "cdna4_mfma32"
    mfma = 32

    def formats_here(self):
        if current_gpu() != "gfx950":
            raise RuntimeError("Its scales are shuffled for CDNA4 (gfx950).")
        reason = "v_mfma_scale_f32_32x32x64_f8f6f4." if self.mfma == 32 else "v_mfma_scale_f32_16x16x128_f8f6f4."
        able = (name for name, (_, _, block) in FORMATS.items() if block == 32)
        return {name: {"level": "native", "reason": reason, "instruction": instruction_of(name)} for name in able}

    def configurations(self):
        return [tile(128, 128, 256, 4, 2), tile(256, 256, 256, 8, 2), tile(64, 64, 256, 4, 2)]

    def launch(self, only_compiled):
        operands, configuration = self.operands, self.configuration
        block_m, block_n, block_k = extents(configuration)
        block_scaled_matmul_cdna4.run(
            operands.a, operands.b, *self.scales, operands.c, operands.m, operands.n, operands.k, self.alpha,
            grid=self.grid(block_m, block_n), warmup=only_compiled,
            A_FORMAT=self.a_element, B_FORMAT=self.b_element, MFMA=self.mfma,
            BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=4,
            num_warps=configuration["warps"], num_stages=configuration["stages"], matrix_instr_nonkdim=self.mfma,
        )


class DotScaledCdna4Mfma16(DotScaledCdna4Mfma32):
    """tl.dot_scaled for CDNA4 over shuffled scales, v_mfma_scale 16x16x128; not run"""

    id = "triton-cdna4-mfma16"
    scale_layout = "cdna4_mfma16"
    mfma = 16
