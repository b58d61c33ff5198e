"""One product by one kernel: operands from the session's files, C back into a file, samples and launches."""

import itertools
import math
import statistics

from .devices import devices
from .kernelFile import PROTOCOL, Trouble, is_mistake, kernel_file
from .sampling import Grouped, grouping_of, sample, warm_up

GUARD_BYTES = 4096
GUARD = 0xA5
UNWRITTEN = 0xFF  # NaN in every type of C
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "e4m3": 1, "e5m2": 1}

# Quick looks at each configuration, before the best is measured by the rules.
TUNING = {"warmupLaunches": 0, "warmupNs": 20e6, "fixedSamples": 0, "minSamples": 20, "minTimeNs": 50e6}
TUNING_ENDS = {"maxRelativeStdev": 0.0, "maxSamples": 20, "timeoutNs": 2e9}


class Guarded:
    """C between two guards that no kernel may write to."""

    def __init__(self, device, shape, output):
        self.device = device
        self.size = math.prod(shape) * BYTES[output]
        self.buffer = device.filled(self.size + 2 * GUARD_BYTES, GUARD)
        self.inside = self.buffer[GUARD_BYTES : GUARD_BYTES + self.size]
        self.c = self.inside.view(device.types[output]).reshape(shape)
        self.forget()

    def forget(self):
        self.inside[:] = UNWRITTEN

    def is_unwritten(self):
        return bool((self.inside == UNWRITTEN).all())

    def strays(self):
        """How many bytes ahead of C and behind it are not as they were."""
        before, after = self.buffer[:GUARD_BYTES], self.buffer[GUARD_BYTES + self.size :]
        return int((before != GUARD).sum()), int((after != GUARD).sum())


class Groups:
    """The groups of a grouped product: rows of A and C, of which the group g has `rows[g]` from `starts[g]` on."""

    def __init__(self, device, about, m):
        self._device, self._m = device, m
        self.layout, self.rows, self.starts = about["layout"], about["rows"], about["starts"]

    def firsts(self):
        """int32: the first row of each group."""
        return self._device.integers(self.starts)

    def counts(self):
        """int32: the rows of each group."""
        return self._device.integers(self.rows)

    def ends(self):
        """int32: the row behind each group, padding not counted."""
        return self._device.integers([start + rows for start, rows in zip(self.starts, self.rows)])

    def of_rows(self):
        """int32: the group of each row of A, -1 for padding."""
        groups = [-1] * self._m
        for group, (start, rows) in enumerate(zip(self.starts, self.rows)):
            groups[start : start + rows] = [group] * rows
        return self._device.integers(groups)


class Operands:
    """What one product is made of; docs/providers.md lists the members.

    a: (M, K) packed along K, b: (N, K) packed along K or (K, N) packed along N, both uint8; a_scales and b_scales: uint8 in
    the kernel's scale layout; accumulator: (M, N) float32, or None; c: (M, N) in the output type, to be written unless run()
    returns C. Where the kernel takes batches, each behind the dimensions of its own; where it takes groups, B has a matrix for each
    of `groups`, which is None otherwise.
    """

    def __init__(self, device, request, c, copy=lambda array: array):
        self._device, self._request, self._copy = device, request, copy
        self.m, self.n, self.k = request["m"], request["n"], request["k"]
        self.format, self.output = request["format"], request["output"]
        self.scale_block = request["scaleBlock"]
        self.a_element, self.b_element = request["elements"]
        self.scale_element = request["scale"]
        self.a_tensor_scale, self.b_tensor_scale = request["tensorScales"]
        self.b_order, self.output_scale = request["bOrder"], request["outputScale"]
        self.batch, self.batch_a, self.batch_b = (tuple(request[name]) for name in ("batch", "batchA", "batchB"))
        self.groups = Groups(device, request["groups"], self.m) if "groups" in request else None
        self.c = c
        self.a, self.b = (copy(self._read(name)) for name in ("a", "b"))
        self.a_scales, self.b_scales = (copy(self._read(name)) for name in ("aScales", "bScales"))
        self.accumulator = self._accumulator() if "accumulator" in request["files"] else None

    def _read(self, name):
        about = self._request["files"][name]
        return self._device.read(about["path"]).reshape(about["shape"])

    def _accumulator(self):
        about = self._request["files"]["accumulator"]
        return self._copy(self._device.floats(about["path"]).reshape(about["shape"]))

    def table(self, name):
        """The float32 that each code of "a", "b" or "scale" means."""
        return self._device.floats(self._request["files"][f"{name}Table"]["path"])

    def values(self, side):
        """A ("a") or B ("b") as float32 numbers, (M, K) or (N, K) in any order of B, block scales applied; tensor scales are not."""
        element = self._device.look_up(self.table(side), self._codes(side))
        scale = self._device.look_up(self.table("scale"), self._read(f"{side}LinearScales"))
        blocks = element.reshape(*scale.shape, self.scale_block)
        # They may fill half of the GPU's memory: not once more for the product.
        blocks *= scale[..., None]
        return blocks.reshape(element.shape)

    def _codes(self, side):
        """One code a byte, (M, K) or (N, K) in any order of B, from those that the kernel reads."""
        codes = self._device.unpacked(getattr(self, side), self._request["codeBits"][side])
        return codes.swapaxes(-1, -2) if side == "b" and self.b_order == "kn" else codes

    def matrices(self, side):
        """For each matrix of C the number, int32, of the matrix of A ("a") or B ("b") that it is made of."""
        return self._device.matrices(self.batch_a if side == "a" else self.batch_b, self.batch)

    def rounded(self, values):
        """Float32 C, times the output scale, in the type of C: to nearest even, e4m3 and e5m2 saturate."""
        scaled = values if self.output_scale == 1 else values * self.output_scale
        return self._device.rounded(scaled, self.output)

    def bytes(self):
        arrays = [self.a, self.b, self.a_scales, self.b_scales]
        arrays += [] if self.accumulator is None else [self.accumulator]
        return sum(self._device.bytes_of(array).shape[0] for array in arrays)


# Tens of thousands of tiny sets take longer to make than to measure (planCold of native/core/measure.cpp, which tests hold this to).
MOST_SETS = 512


def cold_plan(size, cache, free):
    """Operand sets in turn so that a cache of `cache` bytes (0: not known, or hot) holds none of them, each of `size` bytes, and
    whether they are too few for it, so that it is flushed before each sample."""
    if cache == 0 or size >= 5 * cache:
        return 1, False
    wanted = 1 + -(-3 * cache // size)
    sets = min(wanted, MOST_SETS)
    if (sets - 1) * size > free:
        sets = 1
    return sets, sets < wanted


class Product:
    """A kernel with its operand sets; `launch` runs the next one in turn."""

    def __init__(self, file, kernel, request, say):
        self.file, self.kernel, self.request, self.say = file, kernel, request, say
        self.device = devices[getattr(kernel, "device", "cuda")](request)
        self.guarded = Guarded(self.device, (*request["batch"], request["m"], request["n"]), request["output"])
        operands = Operands(self.device, request, self.guarded.c)
        self.instances = [self.prepared(operands)]
        size = operands.bytes() + self.guarded.size
        self.set_count, self.flushes = cold_plan(size, self.device.cache_bytes if request["cold"] else 0, self.device.free_bytes)
        self.turn = 0
        self.returned = None

    def prepared(self, operands):
        self.say({"phase": "prepare"})
        instance = self.file.call("__init__", self.kernel, kernel=self.kernel)
        self.file.call("prepare", instance.prepare, operands, kernel=self.kernel)
        return instance

    def add_sets(self):
        """The other sets, with the configuration that the first one has; and what is written before each sample where they are too few."""
        if self.flushes:
            self.device.flush_before_samples()
        configuration = getattr(self.instances[0], "configuration", None)
        for _ in range(self.set_count - 1):
            instance = self.prepared(Operands(self.device, self.request, self.guarded.c, self.device.copy))
            if configuration is not None:
                instance.configuration = configuration
            self.instances.append(instance)

    def replace(self, files):
        """Another set of operands, of which some lie in other files; the only one from here on."""
        before = self.instances[0]
        changed = {**self.request, "files": {**self.request["files"], **files}}
        self.instances = [self.prepared(Operands(self.device, changed, self.guarded.c))]
        if hasattr(before, "configuration"):
            self.instances[0].configuration = before.configuration

    def launch(self):
        instance = self.instances[self.turn % len(self.instances)]
        self.turn += 1
        self.returned = instance.run()

    def call(self, work, *arguments):
        """Work in which run() is called: what it raises, then or later on the device, is run()'s."""
        self.say({"phase": "run"})

        def finished():
            result = work(*arguments)
            self.device.wait()
            return result

        return self.file.call("run", finished, kernel=self.kernel)

    def take(self):
        """C of one more run, checked for its form; what lies around it is checked too."""
        self.guarded.forget()
        self.returned = None
        self.call(self.launch)
        name = self.file.name
        before, after = self.guarded.strays()
        if before or after:
            where = [f"{count} bytes {side} C" for count, side in ((before, "ahead of"), (after, "behind")) if count]
            raise Trouble("failed", f"{name}: run() wrote outside C: {' and '.join(where)} were changed.")
        if self.returned is None:
            if self.guarded.is_unwritten():
                raise Trouble("failed", f"{name}: run() wrote nothing to operands.c and returned nothing.")
            return self.guarded.c
        c = self.device.as_array(self.returned)
        wanted = tuple(self.guarded.c.shape)
        if c is None:
            kind = type(self.returned).__name__
            raise Trouble("failed", f"{name}: run() returned a {kind}; it returns C as an array, or nothing.")
        if tuple(c.shape) != wanted:
            raise Trouble("failed", f"{name}: run() returned C of shape {tuple(c.shape)}; {wanted} was asked for.")
        if c.dtype != self.guarded.c.dtype:
            raise Trouble(
                "failed", f"{name}: run() returned C of {c.dtype}; {self.guarded.c.dtype} was asked for."
            )
        return c

    def choose_configuration(self):
        """Tries `configurations` where the kernel has them, unless an earlier run of this product did: the best, and in words."""
        first = self.instances[0]
        listed = getattr(first, "configurations", None)
        if listed is None:
            return None
        if callable(listed):
            listed = self.file.call("configurations", listed, kernel=self.kernel)
        chosen = self.request["chosen"]
        if chosen is not None and chosen["configuration"] in listed:
            first.configuration = chosen["configuration"]
            return chosen
        self.compile(listed)
        tried = []
        problem = "it lists none"
        for configuration in listed:
            first.configuration = configuration
            try:
                self.call(self.launch)
                warm_up(self.device, self.launch, TUNING)
                samples, _ = sample(self.device, self.launch, {**TUNING, **TUNING_ENDS}, self.say)
                tried.append((statistics.median(samples), configuration))
                self.say({"configuration": configuration, "medianNs": tried[-1][0]})
            except Exception as error:  # it does not fit or does not compile; the others are tried
                if is_mistake(error, self.file.path):
                    raise
                problem = str(error)
                self.say({"configuration": configuration, "error": problem})
        if not tried:
            raise Trouble("unavailable", f"No configuration runs; the last: {problem}")
        first.configuration = min(tried, key=lambda entry: entry[0])[1]
        words = ", ".join(f"{name} {value}" for name, value in first.configuration.items())
        return {"configuration": first.configuration, "words": f"best of {len(tried)}: {words}"}

    def grouped(self):
        """What queues the next sample, and of how many launches: short ones are captured, several in a graph; where that cannot
        be, or they are long, a sample is one launch."""
        if not self.device.has_graphs:
            return self.launch, 1
        (estimate,) = self.call(self.device.times, self.launch, 1)
        launches, samples = grouping_of(estimate, len(self.instances), self.flushes)
        graphs = self.call(self.device.graphs, self.launch, launches, samples) if launches > 1 else []
        if not graphs:
            return self.launch, 1
        turns = itertools.cycle(graphs)
        return (lambda: next(turns)()), launches

    def compile(self, configurations):
        """Lets a kernel that can compile its configurations beside one another do so, before each is tried."""
        together = getattr(self.instances[0], "compile", None)
        if together is None or len(configurations) < 2:
            return
        self.say({"phase": "compile"})
        try:
            self.file.call("compile", together, configurations, kernel=self.kernel)
        except Exception as error:  # the one that does not compile is found when it is tried
            if is_mistake(error, self.file.path):
                raise


def run(request, say):
    """`file`, `kernel`, the problem and the rules of a measurement; writes C to `result`, where that is not None."""
    file = kernel_file(request["file"], request["known"])
    kernel, _ = file.kernels[request["kernel"]]
    rules = request["rules"]
    product = Product(file, kernel, {**request, "cold": rules["cold"]}, say)
    chosen = product.choose_configuration()
    product.add_sets()
    # The first launch compiles and loads, and shows what is wrong, before any is timed.
    product.take()
    product.device.give_memory_back()
    # C alone is wanted, or times alone.
    queue, each = product.grouped() if request["result"] is None else (product.launch, 1)
    device = Grouped(product.device, each)
    shared = device.rules(rules)
    warmup_ns = product.call(warm_up, device, queue, shared) * each
    samples, stop = product.call(sample, device, queue, shared, say)
    launches, source = [], ""
    if rules["recordLaunches"]:
        launches, source = product.call(product.device.launches, product.launch, request["kernel"])
    sustained_ns, count = 0, 0
    if rules["sustainedNs"] > 0:
        queued = max(1, round(rules["sustainedNs"] / statistics.median(samples) / each))
        count = queued * each
        sustained_ns = product.call(product.device.back_to_back, queue, queued) / count
    c = product.take()
    if request["result"] is not None:
        product.device.write(c, request["result"])
    sets = len(product.instances)
    for raised in request["raised"]:
        product.replace(raised["files"])
        product.device.write(product.take(), raised["result"])
    return {
        "protocol": PROTOCOL,
        "samplesNs": samples,
        "launchesPerSample": each,
        "stopReason": stop,
        "chosen": chosen,
        "warmupNs": warmup_ns,
        "operandSets": sets,
        "flushed": product.flushes,
        "clock": product.device.clock,
        "launches": launches,
        "launchSource": source,
        "sustainedNs": sustained_ns,
        "sustainedCount": count,
    }
