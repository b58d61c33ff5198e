"""The same Triton launches timed by CUDA events, as the provider does, and by Proton: prints both in nanoseconds."""

import json
import os
import statistics
import sys

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
for folder in ("", "triton"):
    sys.path.insert(0, os.path.join(root, "resources", "providers", folder))

import torch
import triton
import triton.profiler as proton
from blockscope_host.devices import CudaDevice
from pointerKernel import block_scaled_matmul

size = int(sys.argv[1])
folder = sys.argv[2]
a, b = (torch.randint(0, 256, (size, size // 2), dtype=torch.uint8, device="cuda") for _ in range(2))
scales = [torch.randint(124, 131, (size, size // 32), dtype=torch.uint8, device="cuda") for _ in range(2)]
c = torch.empty((size, size), dtype=torch.float16, device="cuda")


def launch():
    block_scaled_matmul[(triton.cdiv(size, 128) ** 2,)](
        a, b, *scales, c, size, size, size, 1.0,
        A_FORMAT="e2m1", B_FORMAT="e2m1", SCALE_BLOCK=32, BLOCK_M=128, BLOCK_N=128, BLOCK_K=128,
        GROUP_M=8, FAST_MATH=False, num_warps=8, num_stages=3,
    )


device = CudaDevice(None)
warmed = 0.0
while warmed < 300e6:
    warmed += sum(device.times(launch, CudaDevice.batch))
# In turns, so that a drifting clock meets both.
events, launches = [], 0
session = proton.start(os.path.join(folder, "proton"), hook="triton")
proton.deactivate(session)
for _ in range(10):
    events += device.times(launch, CudaDevice.batch)
    proton.activate(session)
    for _ in range(8):
        launch()
    torch.cuda.synchronize()
    proton.deactivate(session)
    launches += 8
proton.finalize(session)
with open(os.path.join(folder, "proton.hatchet")) as file:
    tree = json.load(file)


def total(node):
    own = node.get("metrics", {})
    ns, count = own.get("time (ns)", 0), own.get("count", 0)
    for child in node.get("children", []):
        more_ns, more_count = total(child)
        ns, count = ns + more_ns, count + more_count
    return ns, count


ns, count = total(tree[0])
print(json.dumps({"eventsNs": statistics.median(events), "protonNs": ns / count, "count": count}))
