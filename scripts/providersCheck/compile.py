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
from dotScaled import FORMATS as ALL_FORMATS
from dotScaled import MOST, lacks_target, packs_along_n
from pointerKernel import block_scaled_matmul
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

# One of each kind.
FORMATS = {name: ALL_FORMATS[name] for name in ("nvfp4", "mxfp4", "mxfp8", "mixed")}
EXTENTS = {name: "i32" for name in ("M", "N", "K")}


# What the operation has beside the plain product, as provider.py says it to a kernel.
PLAIN = {"B_KN": False, "BATCHED": False, "GROUPED": False, "ACCUMULATE": False, "MOST": 0.0}
WHOLE = {
    "plain": {},
    "(K, N)": {"B_KN": True},
    "batch, beta 1, e4m3": {"BATCHED": True, "ACCUMULATE": True, "MOST": MOST["e4m3"]},
    "e5m2": {"MOST": MOST["e5m2"]},
    "groups": {"GROUPED": True},
}
TYPES_OF_C = {0.0: "*fp16", MOST["e4m3"]: "*fp8e4nv", MOST["e5m2"]: "*fp8e5"}


def source_of(kernel, format, constants):
    a, b, block = FORMATS[format]
    scale = "*fp8e4nv" if format == "nvfp4" else "*u8"
    constants = {"A_FORMAT": a, "B_FORMAT": b, "SCALE_BLOCK": block, **PLAIN, **constants}
    # What is not given is None, as the launcher has it.
    given = {
        "a_ptr": "*u8", "b_ptr": "*u8", "a_scale_ptr": scale, "b_scale_ptr": scale, "c_ptr": TYPES_OF_C[constants["MOST"]],
        "accumulator_ptr": "*fp32" if constants["ACCUMULATE"] else None,
        **{name: "*i32" if constants["BATCHED"] or constants["GROUPED"] else None for name in ("a_matrices", "b_matrices")},
        **EXTENTS, "alpha": "fp32", "output_scale": "fp32",
    }
    constants.update({name: None for name, kind in given.items() if kind is None})
    constants = {name: value for name, value in constants.items() if name in kernel.arg_names}
    signature = {name: "constexpr" if name in constants else given[name] for name in kernel.arg_names}
    # As the launcher sees pointers of torch and extents that are multiples of 16.
    aligned = {(kernel.arg_names.index(name),): [["tt.divisibility", 16]] for name in signature if name not in (*constants, "alpha", "output_scale")}
    return ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=aligned)


def compiled(kernel, format, target, constants, **options):
    source = source_of(kernel, format, constants)
    return triton.compile(source, target=target, options=options)


def tile(m, n, k, **more):
    return {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, **more}


def tma(format):
    both_fp4 = FORMATS[format][:2] == ("e2m1", "e2m1")
    return tile(128, 256, 256 if both_fp4 else 128, STAGES=4)


CUDA = {name: GPUTarget("cuda", int(name[3:]), 32) for name in ("sm_90", "sm_100", "sm_110", "sm_120")}
CDNA4 = GPUTarget("hip", "gfx950", 64)
POINTERS = tile(128, 128, 128, GROUP_M=8, FAST_MATH=False)
MXFP = [name for name, (_, _, block) in FORMATS.items() if block == 32]


def operations(format, target):
    """Those of WHOLE that the kernels take there."""
    if target in CUDA and lacks_target(int(target[3:-1]), triton.__version__):
        return {}
    # As sm_100, and compiled for the plain product alone.
    if target == "sm_110":
        return {"plain": WHOLE["plain"]}
    taken = packs_along_n(format, target)
    return {words: operation for words, operation in WHOLE.items() if taken or not operation.get("B_KN")}


def cases():
    """(id, format, of the operation, target's name, how it is compiled, assembly's kind, what has to be in it)"""
    for format, name in ((format, name) for name in ("sm_100", "sm_110") for format in FORMATS):
        for words, operation in operations(format, name).items():
            if operation.get("GROUPED"):
                continue
            constants = {**tma(format), **operation}
            yield (
                "triton-tma", format, words, name,
                lambda format=format, name=name, constants=constants: compiled(
                    block_scaled_matmul_tma, format, CUDA[name], constants, num_warps=8 if constants.get("ACCUMULATE") else 4
                ),
                "ptx", [r"tcgen05\.mma\.\S*block_scale", r"cp\.async\.bulk\.tensor\.5d", r"tensormap"],
            )
    for format, name, instruction in (
        *((format, "sm_90", r"wgmma|mma\.sync") for format in MXFP),
        *((format, name, r"tcgen05\.mma\.\S*block_scale") for name in ("sm_100", "sm_110") for format in FORMATS),
        *((format, "sm_120", r"mma\.sync\S*block_scale") for format in ("nvfp4", "mxfp4", "mxfp8")),
        ("mixed", "sm_120", r"mma\.sync"),
        *((format, "gfx950", r"v_mfma_scale_f32") for format in MXFP),
    ):
        for words, operation in operations(format, name).items():
            yield (
                "triton", format, words, name,
                lambda format=format, name=name, operation=operation: compiled(
                    block_scaled_matmul, format, CUDA.get(name, CDNA4), {**POINTERS, **operation}, num_warps=8, num_stages=3
                ),
                "ptx" if name in CUDA else "amdgcn", [instruction],
            )
    for mfma, instruction in ((32, r"v_mfma_scale_f32_32x32x64_f8f6f4"), (16, r"v_mfma_scale_f32_16x16x128_f8f6f4")):
        for format in MXFP:
            yield (
                f"triton-cdna4-mfma{mfma}", format, "plain", "gfx950",
                lambda format=format, mfma=mfma: compiled(
                    block_scaled_matmul_cdna4, format, CDNA4, tile(128, 128, 256, GROUP_M=4, MFMA=mfma),
                    num_warps=4, num_stages=2, matrix_instr_nonkdim=mfma,
                ),
                "amdgcn", [instruction],
            )


def outcome(compile_it, kind, wanted):
    """'compiles', or what is wrong, in a line."""
    try:
        assembly = compile_it().asm[kind]
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        return f"failed: {lines[0][:200]}"
    missing = [words for words in wanted if not re.search(words, assembly)]
    return f"lacks {', '.join(missing)}" if missing else "compiles"


def outcome_of_child(*case):
    """The same from a process of its own: a compiler that aborts costs its case."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(writing, outcome(*case).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as told:
        words = told.read()
    _, status = os.waitpid(child, 0)
    return words or f"failed: the compiler was ended by signal {os.waitstatus_to_exitcode(status) * -1}"


def main():
    print(f"Triton {triton.__version__}", flush=True)
    for name in CUDA:
        lacking = lacks_target(int(name[3:-1]), triton.__version__)
        if lacking:
            print(f"{name} is left out: {lacking}", flush=True)
    failed = 0
    for ident, format, words, target, *case in cases():
        told = outcome_of_child(*case)
        failed += told != "compiles"
        print(f"{ident:20} {format:6} {words:20} {target:7} {told}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
