"""What tl.dot_scaled takes, as far as it can be said without torch and without a GPU."""

# Element names of A and B as tl.dot_scaled calls them, elements per scale.
FORMATS = {
    "nvfp4": ("e2m1", "e2m1", 16),
    "mxfp4": ("e2m1", "e2m1", 32),
    "mxfp8": ("e4m3", "e4m3", 32),
    "mxfp8_e5m2": ("e5m2", "e5m2", 32),
    "mxfp8_e4m3_e5m2": ("e4m3", "e5m2", 32),
    "mixed": ("e4m3", "e2m1", 32),
}

# The largest finite value of the types of C that saturate.
MOST = {"e4m3": 448.0, "e5m2": 57344.0}


def lacks_target(major, version):
    """Why this Triton compiles nothing for a GPU of compute capability `major`; '' where it does: 3.6 has a ptxas without sm_110."""
    if major != 11 or [int(part) for part in version.split(".")[:2]] >= [3, 7]:
        return ""
    return f"Triton {version} cannot compile for sm_110; take 3.8."


def gpu_name(target):
    """'sm_90' or 'gfx950', of a Triton target."""
    return target.arch if target.backend == "hip" else f"sm_{target.arch}"


def has_instruction(format, gpu):
    """Whether tl.dot_scaled over linear scales becomes a block-scaled instruction; else it upcasts to bf16."""
    if gpu == "gfx950":
        return FORMATS[format][2] == 32
    # On sm_12x Triton 3.6 has no block-scaled path for e4m3 times e2m1.
    return gpu.startswith(("sm_10", "sm_11", "sm_12")) and not (gpu.startswith("sm_12") and format == "mixed")


def lacks_format(format, gpu):
    """Whether Triton compiles nothing for a format there; elsewhere it has an instruction or upcasts."""
    # e4m3 scales: below sm_100 the compiler aborts, on gfx950 a pass fails.
    return format == "nvfp4" and not has_instruction(format, gpu) and (gpu == "gfx950" or gpu.startswith("sm_"))


def packs_along_n(format, gpu):
    """Whether B may be rows of N: e2m1, packed along N, is on tcgen05 and gfx950, and aborts the compiler elsewhere."""
    _, b_element, block = FORMATS[format]
    return b_element != "e2m1" or (gpu.startswith(("sm_10", "sm_11", "gfx950")) and block == 32)
