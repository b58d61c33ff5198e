"""One request of the provider: what there is, or one block-scaled matmul with tl.dot_scaled, timed and written to a file."""

import json
import os
import statistics
import sys
import tempfile
import time

FORMATS = {  # element names of A and B as tl.dot_scaled calls them, elements per scale
    "nvfp4": ("e2m1", "e2m1", 16),
    "mxfp4": ("e2m1", "e2m1", 32),
    "mxfp8": ("e4m3", "e4m3", 32),
    "mxfp8_e5m2": ("e5m2", "e5m2", 32),
    "mxfp8_e4m3_e5m2": ("e4m3", "e5m2", 32),
    "mixed": ("e4m3", "e2m1", 32),
}

# Tiles (BLOCK_M, BLOCK_N, BLOCK_K), warps, stages. Small tiles serve small shapes and other GPUs.
CONFIGS = [
    ((128, 256, 128), 8, 3),
    ((128, 128, 128), 8, 3),
    ((128, 128, 128), 4, 3),
    ((256, 128, 128), 8, 3),
    ((128, 128, 256), 8, 2),
    ((128, 256, 64), 8, 4),
    ((64, 128, 128), 4, 4),
]


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


class Unavailable(Exception):
    pass


def libraries():
    try:
        import torch
    except ImportError as error:
        raise Unavailable(f"This Python has no PyTorch: {error}.") from error
    try:
        import triton
    except ImportError as error:
        raise Unavailable(f"This Python has no Triton: {error}.") from error
    if not torch.cuda.is_available():
        raise Unavailable("PyTorch sees no GPU.")
    return torch, triton


def detect():
    torch, triton = libraries()
    major, minor = torch.cuda.get_device_capability()
    formats = {}
    for name in FORMATS:
        native = major in (10, 11, 12)
        if name == "nvfp4" and not native:
            reason = f"Triton {triton.__version__} has no path for e4m3 scales below sm_100: its compiler aborts."
            formats[name] = {"level": "unavailable", "reason": reason, "instruction": ""}
        # On sm_12x Triton 3.6 has no block-scaled path for e4m3 times e2m1.
        elif not native or (major == 12 and name == "mixed"):
            reason = "Triton upcasts both operands to bf16 in the kernel."
            formats[name] = {"level": "exact", "reason": reason, "instruction": "bf16"}
        else:
            narrow = all(element == "e2m1" for element in FORMATS[name][:2])
            formats[name] = {"level": "native", "reason": "Block-scaled instruction.", "instruction": "fp4" if narrow else "fp8"}
    return {
        "python": sys.version.split()[0],
        "torch": torch.__version__,
        "triton": triton.__version__,
        "device": torch.cuda.get_device_name(),
        "uuid": "GPU-" + str(torch.cuda.get_device_properties(0).uuid),
        "capability": [major, minor],
        "formats": formats,
    }


def load_operands(torch, params):
    """Canonical files to device tensors: codes packed where they are fp4, scales linear."""
    a_format, b_format, block = FORMATS[params["format"]]
    m, n, k = params["m"], params["n"], params["k"]

    def read(name, rows, columns):
        path = f"{params['operands']}/{name}"
        data = torch.from_file(path, shared=False, size=rows * columns, dtype=torch.uint8)
        return data.reshape(rows, columns).cuda()

    def pack(codes, element):
        return codes[:, 0::2] | codes[:, 1::2] << 4 if element == "e2m1" else codes

    a = pack(read("aCodes.bin", m, k), a_format).contiguous()
    b = pack(read("bCodes.bin", n, k), b_format).contiguous()
    scales = [read("aScales.bin", m, k // block), read("bScales.bin", n, k // block)]
    if params["format"] == "nvfp4":
        scales = [scale.view(torch.float8_e4m3fn) for scale in scales]
    return a, b, *scales


def operand_sets(torch, operands, c_bytes, cold):
    """Copies used in turn so that the L2 cache holds none: 1 if a set is beyond 5 L2, else 1 + ceil(3 L2 / bytes)."""
    size = sum(tensor.numel() * tensor.element_size() for tensor in operands) + c_bytes
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    count = 1 if not cold or size >= 5 * cache else 1 + -(-3 * cache // size)
    return [operands] + [tuple(tensor.clone() for tensor in operands) for _ in range(count - 1)]


class Timer:
    """Event pairs around single launches, several at a time behind a spin that holds the stream back."""

    QUEUED = 8
    SPIN_CYCLES = 1_000_000

    def __init__(self, torch, launch):
        self.torch, self.launch, self.next = torch, launch, 0

    def batch(self):
        event = self.torch.cuda.Event
        pairs = [(event(enable_timing=True), event(enable_timing=True)) for _ in range(self.QUEUED)]
        self.torch.cuda._sleep(self.SPIN_CYCLES)
        for start, stop in pairs:
            start.record()
            self.launch(self.next)
            stop.record()
            self.next += 1
        self.torch.cuda.synchronize()
        return [start.elapsed_time(stop) * 1e6 for start, stop in pairs]

    def warm_up(self, ns):
        spent = 0.0
        while spent < ns:
            spent += sum(self.batch())

    def sample(self, count, ns, limit_s=5.0):
        samples, deadline = [], time.monotonic() + limit_s
        while (len(samples) < count or sum(samples) < ns) and time.monotonic() < deadline:
            samples += self.batch()
        return samples


def launches_of(trace):
    """The kernels of a PyTorch profiler's trace (Kineto, from CUPTI), in order; times count from the first one's start."""
    kernels = sorted((e for e in trace["traceEvents"] if e.get("cat") == "kernel"), key=lambda event: event["ts"])
    records = []
    for event in kernels:
        about = event["args"]
        start = round((event["ts"] - kernels[0]["ts"]) * 1000)
        records.append({
            "name": event["name"],
            "startNs": start,
            "endNs": start + round(event["dur"] * 1000),
            "stream": about["stream"],
            "grid": about["grid"],
            "block": about["block"],
            "registersPerThread": about["registers per thread"],
            "sharedMemoryBytes": about["shared memory"],
        })
    return records


def record_launches(torch, launch):
    """One operation under PyTorch's profiler; empty where CUPTI is missing or refuses."""
    from torch.profiler import ProfilerActivity, profile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        try:
            with profile(activities=[ProfilerActivity.CUDA]) as recording:
                launch(0)
                torch.cuda.synchronize()
            recording.export_chrome_trace(path)
            with open(path, encoding="utf-8") as trace:
                return launches_of(json.load(trace))
        except (RuntimeError, OSError, KeyError, TypeError, ValueError):
            return []


def time_launch(torch, launch, compiled, grid, warps):
    """The same from Triton's own metadata and a pair of events, where no profiler sees the launch."""
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    launch(0)
    stop.record()
    torch.cuda.synchronize()
    return [{
        "name": compiled.metadata.name,
        "startNs": 0,
        "endNs": round(start.elapsed_time(stop) * 1e6),
        "stream": 0,
        "grid": [grid, 1, 1],
        "block": [warps * 32, 1, 1],
        "registersPerThread": compiled.n_regs,
        "sharedMemoryBytes": compiled.metadata.shared,
    }]


def run(params):
    if params.get("format") not in FORMATS:
        raise ValueError(f'"{params.get("format")}" is no format; there are {", ".join(FORMATS)}')
    torch, triton = libraries()
    from kernel import block_scaled_matmul

    a_format, b_format, block = FORMATS[params["format"]]
    m, n, k = params["m"], params["n"], params["k"]
    types = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
    c = torch.full((m, n), float("nan"), dtype=types[params["output"]], device="cuda")
    operands = load_operands(torch, params)
    sets = operand_sets(torch, operands, c.numel() * c.element_size(), params.get("cold", True))

    def launcher(config):
        (block_m, block_n, block_k), warps, stages = config
        grid = (triton.cdiv(m, block_m) * triton.cdiv(n, block_n),)

        def launch(index):
            a, b, a_scale, b_scale = sets[index % len(sets)]
            return block_scaled_matmul[grid](
                a, b, a_scale, b_scale, c, m, n, k,
                A_FORMAT=a_format, B_FORMAT=b_format, SCALE_BLOCK=block,
                BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=8,
                FAST_MATH=params.get("fastMath", False), num_warps=warps, num_stages=stages,
            )

        return launch

    tried = []
    for config in CONFIGS:
        (block_m, block_n, block_k), warps, stages = config
        entry = {"tile": [block_m, block_n, block_k], "warps": warps, "stages": stages}
        if k % block_k == 0:
            try:
                launch = launcher(config)
                launch(0)
                torch.cuda.synchronize()
                timer = Timer(torch, launch)
                timer.warm_up(20e6)
                entry["medianNs"] = statistics.median(timer.sample(20, 50e6, 2.0))
            except Exception as error:  # this tile does not fit or does not compile; the others are tried
                entry["error"] = str(error).strip().splitlines()[0][:200]
        else:
            entry["error"] = f"K is not a multiple of {block_k}."
        tried.append((entry, config))
        say({"event": entry})
    able = [(entry, config) for entry, config in tried if "medianNs" in entry]
    if not able:
        raise Unavailable("No tile configuration runs: " + tried[0][0]["error"])
    best, config = min(able, key=lambda pair: pair[0]["medianNs"])
    launch = launcher(config)
    timer = Timer(torch, launch)
    timer.warm_up(params.get("warmupNs", 200e6))
    samples = timer.sample(params.get("minSamples", 20), params.get("minTimeNs", 0.25e9))
    c.fill_(float("nan"))
    compiled = launch(0)
    torch.cuda.synchronize()
    c.cpu().view(torch.uint8).numpy().tofile(params["result"])
    launches, source = [], ""
    if params.get("recordLaunches", True):
        launches, source = record_launches(torch, launch), "CUPTI"
    if params.get("recordLaunches", True) and not launches:
        (block_m, block_n, _), warps, _ = config
        tiles = triton.cdiv(m, block_m) * triton.cdiv(n, block_n)
        launches, source = time_launch(torch, launch, compiled, tiles, warps), "CUDA events"
    return {
        "best": best,
        "configs": [entry for entry, _ in tried],
        "samplesNs": samples,
        "operandSets": len(sets),
        "launches": launches,
        "launchSource": source,
        "triton": triton.__version__,
    }


def main():
    params = json.loads(sys.stdin.read())
    try:
        say({"result": detect() if params["method"] == "detect" else run(params)})
    except Unavailable as error:
        say({"error": {"code": "unavailable", "message": str(error)}})
    except (KeyError, ValueError, OSError) as error:
        say({"error": {"code": "usage", "message": f"Bad request: {error}."}})


if __name__ == "__main__":
    main()
