"""Method bs-3 (docs/measurement.md): what a sample is of, warm-up, how many samples, and when they are enough. Times in nanoseconds."""

import math
import statistics
import time
from collections import deque


# As in native/core/measure.cpp.
GROUP_BELOW_NS = GROUP_NS = 200e3


def grouping_of(launch_ns, sets, flushes):
    """Launches of one sample, and how many such samples go through the operand sets: groupingOf of native/core/measure.cpp,
    which tests hold it to (test/fixtures/sampling/plans.json)."""
    if launch_ns >= GROUP_BELOW_NS:
        return 1, 1
    wanted = min(512, max(8, math.ceil(GROUP_NS / max(launch_ns, 1))))
    if flushes:
        return min(wanted, sets), 1
    if sets <= wanted:
        return -(-wanted // sets) * sets, 1
    samples = sets // wanted
    return sets // samples, samples


class Grouped:
    """A device each of whose samples is of several launches; its times, and what `rules` ask for, are those of one of them."""

    def __init__(self, device, launches):
        self.device, self.launches, self.batch = device, launches, device.batch

    def times(self, queue, count):
        return [taken / self.launches for taken in self.device.times(queue, count)]

    def rules(self, rules):
        """`rules` of a measurement with the time and the launches that they ask for shared among the launches of a sample."""
        shared = {name: rules[name] / self.launches for name in ("warmupNs", "minTimeNs")}
        return {**rules, **shared, "warmupLaunches": -(-rules["warmupLaunches"] // self.launches)}


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
