"""A PyTorch step whose kernels take about 100 us, and a loop that is bound by its launches: the same work alone, captured,
under torch.profiler and under Proton. Prints one line of JSON: microseconds of a step and of a launch, medians.

work.py [--torch TRACE.json] [--proton NAME] [--steps 50]
"""

import argparse
import json
import statistics
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--torch")
parser.add_argument("--proton")
parser.add_argument("--steps", type=int, default=50)
options = parser.parse_args()

# Zeros toggle no bits of the multipliers: products of random numbers run into the power limit, and each process then has a clock of
# its own, by which times of two profilers differ more than by what they measure.
a = torch.zeros(2048, 4096, device="cuda", dtype=torch.bfloat16)
b = torch.zeros(4096, 4096, device="cuda", dtype=torch.bfloat16)
wide = torch.zeros(64 << 20, device="cuda", dtype=torch.bfloat16)
tiny = torch.zeros(1, device="cuda")


def step():
    for _ in range(20):
        torch.matmul(a, b)
        torch.nn.functional.relu(wide)


def launch_bound(count):
    for _ in range(count):
        tiny.add_(1)


def timed(work, rounds):
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begun) * 1e6)
    return statistics.median(times)


for _ in range(20):
    step()
launch_bound(1000)
torch.cuda.synchronize()


def measured():
    torch.cuda.nvtx.range_push("measured")
    times = {"step": timed(step, options.steps), "launch": timed(lambda: launch_bound(2000), 10) / 2000}
    torch.cuda.nvtx.range_pop()
    return times


if options.torch:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        found = measured()
    profile.export_chrome_trace(options.torch)
elif options.proton:
    import triton.profiler as proton

    proton.start(options.proton)
    found = measured()
    proton.finalize()
else:
    found = measured()
print(json.dumps(found))
