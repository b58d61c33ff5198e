"""Method bs-1 (docs/measurement.md): warm-up, how many samples, and when they are enough. Times in nanoseconds."""

import statistics
import time
from collections import deque


class NoiseHistory:
    """nvbench's rule for noisy kernels: more samples do not help once the estimates of the noise have settled."""

    def __init__(self):
        self.history, self.seen = deque(maxlen=512), 0

    def settled_after(self, noise):
        self.history.append(noise)
        if len(self.history) <= 64:
            return False
        self.seen += 1
        if self.seen % 16 != 0:
            return False
        mean = statistics.fmean(self.history)
        return mean > 0 and statistics.stdev(self.history) / mean < 0.05


class Spread:
    """Relative standard deviation of a growing set, by Welford's update."""

    def __init__(self):
        self.count, self.mean, self.squares = 0, 0.0, 0.0

    def add(self, value):
        self.count += 1
        delta = value - self.mean
        self.mean += delta / self.count
        self.squares += delta * (value - self.mean)

    def relative(self):
        return (self.squares / (self.count - 1)) ** 0.5 / self.mean if self.count > 1 else float("inf")


def warm_up(device, launch, rules):
    """Exactly `warmupLaunches`, or at least three launches and `warmupNs`; what it took."""
    wanted = rules["warmupLaunches"]
    if wanted > 0:
        return sum(device.times(launch, wanted))
    spent, launches = 0.0, 0
    while launches < 3 or spent < rules["warmupNs"]:
        taken = device.times(launch, device.batch)
        spent, launches = spent + sum(taken), launches + len(taken)
    return spent


def sample(device, launch, rules, say):
    """Samples by the rules of a measurement request, and why there are no more."""
    samples, spread, noise, total = [], Spread(), NoiseHistory(), 0.0
    began = said = time.monotonic()
    while True:
        left = rules["fixedSamples"] - len(samples) if rules["fixedSamples"] else device.batch
        taken = device.times(launch, min(device.batch, left))
        settled = False
        for value in taken:
            samples.append(value)
            spread.add(value)
            total += value
            settled = (len(samples) > 1 and noise.settled_after(spread.relative())) or settled
        now = time.monotonic()
        if now - said > 1:
            said = now
            say({"phase": "run"})
        if rules["fixedSamples"]:
            if len(samples) >= rules["fixedSamples"]:
                return samples, "fixed"
            continue
        enough = len(samples) >= rules["minSamples"] and total >= rules["minTimeNs"]
        if enough and spread.relative() < rules["maxRelativeStdev"]:
            return samples, "relative stdev"
        if enough and settled:
            return samples, "noise stable"
        if len(samples) >= rules["maxSamples"]:
            return samples, "sample limit"
        if (now - began) * 1e9 > rules["timeoutNs"]:
            return samples, "timed out"
