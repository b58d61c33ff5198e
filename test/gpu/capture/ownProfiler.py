"""A Triton kernel, launched 100 times and then 100 times more under torch.profiler, which a capture keeps from CUPTI: the
program must end as it does alone.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def add_one(x, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) + 1)


x = torch.zeros(1024, device="cuda")


def launch_all():
    for _ in range(100):
        add_one[(4,)](x, BLOCK=256)
    torch.cuda.synchronize()


launch_all()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]):
    launch_all()
assert x.min().item() == x.max().item() == 200
