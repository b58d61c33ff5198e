"""Kernel launches as PyTorch's profiler (Kineto, over CUPTI) records them."""

import json
import os
import tempfile


def launches_of(trace):
    """The kernels of a profiler's trace, in order; times count from the first one's start."""
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


def recorded(torch, launch):
    """One launch under the profiler; empty where it sees nothing."""
    from torch.profiler import ProfilerActivity, profile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        try:
            with profile(activities=[ProfilerActivity.CUDA]) as recording:
                launch()
                torch.cuda.synchronize()
            recording.export_chrome_trace(path)
            with open(path, encoding="utf-8") as trace:
                return launches_of(json.load(trace))
        except (RuntimeError, OSError, KeyError, TypeError, ValueError):
            return []
