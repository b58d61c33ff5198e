"""Compiles Triton's kernels of resources/providers for GPUs that need not be here, and looks for their instructions.

    python3 scripts/providersCheck/compile.py

Prints a line for each kernel, format and target; exits with 1 where one does not compile or lacks its instruction. Where this
Python has no triton it says that it is skipped and exits with 0.
"""

import os
import re
import sys

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(root, "resources", "providers", "triton"))

try:
    import triton
except ImportError:
    print("Skipped: this Python has no triton, so no kernel was compiled.")
    sys.exit(0)

from cdna4Kernel import block_scaled_matmul_cdna4
from descriptorKernel import block_scaled_matmul_tma
from pointerKernel import block_scaled_matmul
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

# As provider.py has them; that file imports torch, which compiling does not need.
FORMATS = {
    "nvfp4": ("e2m1", "e2m1", 16),
    "mxfp4": ("e2m1", "e2m1", 32),
    "mxfp8": ("e4m3", "e4m3", 32),
    "mixed": ("e4m3", "e2m1", 32),
}
EXTENTS = {name: "i32" for name in ("M", "N", "K")}


def source_of(kernel, format, constants):
    a, b, block = FORMATS[format]
    scale = "*fp8e4nv" if format == "nvfp4" else "*u8"
    signature = {
        "a_ptr": "*u8", "b_ptr": "*u8", "a_scale_ptr": scale, "b_scale_ptr": scale, "c_ptr": "*fp16",
        **EXTENTS, "alpha": "fp32",
    }
    constants = {"A_FORMAT": a, "B_FORMAT": b, "SCALE_BLOCK": block, **constants}
    constants = {name: value for name, value in constants.items() if name in kernel.arg_names}
    signature.update({name: "constexpr" for name in constants})
    # As the launcher sees pointers of torch and extents that are multiples of 16.
    aligned = {(kernel.arg_names.index(name),): [["tt.divisibility", 16]] for name in signature if name not in (*constants, "alpha")}
    return ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=aligned)


def compiled(kernel, format, target, constants, **options):
    source = source_of(kernel, format, constants)
    return triton.compile(source, target=target, options=options)


def tile(m, n, k, **more):
    return {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, **more}


def tma(format):
    both_fp4 = FORMATS[format][:2] == ("e2m1", "e2m1")
    return tile(128, 256, 256 if both_fp4 else 128, STAGES=4)


CUDA = {name: GPUTarget("cuda", int(name[3:]), 32) for name in ("sm_90", "sm_100", "sm_120")}
CDNA4 = GPUTarget("hip", "gfx950", 64)
POINTERS = tile(128, 128, 128, GROUP_M=8, FAST_MATH=False)
MXFP = [name for name, (_, _, block) in FORMATS.items() if block == 32]


def cases():
    """(id, format, target's name, how it is compiled, assembly's kind, what has to be in it)"""
    for format in FORMATS:
        yield (
            "triton-tma", format, "sm_100",
            lambda format=format: compiled(block_scaled_matmul_tma, format, CUDA["sm_100"], tma(format), num_warps=4),
            "ptx", [r"tcgen05\.mma\.\S*block_scale", r"cp\.async\.bulk\.tensor\.5d", r"tensormap"],
        )
    for format, name, instruction in (
        *((format, "sm_90", r"wgmma|mma\.sync") for format in MXFP),
        *((format, "sm_100", r"tcgen05\.mma\.\S*block_scale") for format in FORMATS),
        *((format, "sm_120", r"mma\.sync\S*block_scale") for format in ("nvfp4", "mxfp4", "mxfp8")),
        ("mixed", "sm_120", r"mma\.sync"),
    ):
        yield (
            "triton", format, name,
            lambda format=format, name=name: compiled(block_scaled_matmul, format, CUDA[name], POINTERS, num_warps=8, num_stages=3),
            "ptx", [instruction],
        )
    for mfma, instruction in ((32, r"v_mfma_scale_f32_32x32x64_f8f6f4"), (16, r"v_mfma_scale_f32_16x16x128_f8f6f4")):
        for format in MXFP:
            yield (
                f"triton-cdna4-mfma{mfma}", format, "gfx950",
                lambda format=format, mfma=mfma: compiled(
                    block_scaled_matmul_cdna4, format, CDNA4, tile(128, 128, 256, GROUP_M=4, MFMA=mfma),
                    num_warps=4, num_stages=2, matrix_instr_nonkdim=mfma,
                ),
                "amdgcn", [instruction],
            )


def main():
    print(f"Triton {triton.__version__}")
    failed = 0
    for ident, format, target, compile_it, kind, wanted in cases():
        line = f"{ident:20} {format:6} {target:7}"
        try:
            assembly = compile_it().asm[kind]
        except Exception as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            print(f"{line} failed: {lines[0][:200]}")
            failed += 1
            continue
        missing = [words for words in wanted if not re.search(words, assembly)]
        failed += bool(missing)
        print(f"{line} {'lacks ' + ', '.join(missing) if missing else 'compiles'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
