"""Where operands lie and how a run is timed: numpy arrays and the steady clock, or torch tensors and the GPU's events."""

import gc
import math
import os
import sys
import time


# Of the eight-bit types of C: bits of exponent and fraction, codes of the largest finite magnitude and of a quiet NaN.
EIGHT_BITS = {"e4m3": (4, 3, 0x7E, 0x7F), "e5m2": (5, 2, 0x7B, 0x7E)}


def unpacked(codes, bits, stack):
    """The codes of `bits` each in the last axis, which `stack` puts side by side: two fp4 of a byte, the even one in its low
    nibble; four fp6 of three bytes."""
    if bits == 8:
        return codes
    if bits == 4:
        parts = [codes & 15, codes >> 4]
    else:
        first, second, third = (codes[..., start::3] for start in range(3))
        parts = [first & 63, first >> 6 | (second & 15) << 2, second >> 4 | (third & 3) << 4, third >> 2]
    return stack(parts, -1).reshape(*codes.shape[:-1], -1)


class CpuDevice:
    """Arrays are numpy's. C in a type that numpy has none for is its bits: bf16 in uint16, e4m3 and e5m2 in uint8."""

    clock = "steady clock"
    has_graphs = False  # and needs none: it times single launches well enough

    def __init__(self, request):
        import numpy

        self.numpy = numpy
        self.cache_bytes = request["cacheBytes"]
        self.free_bytes = request["memoryBytes"] * 2 // 5
        self.flushed = None
        bits = {"bf16": numpy.uint16, "e4m3": numpy.uint8, "e5m2": numpy.uint8}
        self.types = {"f16": numpy.float16, "f32": numpy.float32, **bits}

    @staticmethod
    def uuid():
        import numpy  # noqa: F401

        return ""

    def read(self, path):
        array = self.numpy.fromfile(path, dtype=self.numpy.uint8)
        # A kernel that writes to an operand would change the next product.
        array.flags.writeable = False
        return array

    def copy(self, array):
        copied = array.copy()
        copied.flags.writeable = False
        return copied

    def floats(self, path):
        return self.read(path).view(self.numpy.float32)

    def unpacked(self, codes, bits):
        return unpacked(codes, bits, self.numpy.stack)

    def look_up(self, table, codes):
        return table[codes]

    def integers(self, values):
        return self.numpy.array(values, dtype=self.numpy.int32)

    def matrices(self, own, of):
        """For each matrix of the batch `of`, the one of the batch `own` that it is made of."""
        numbers = self.numpy.arange(math.prod(own), dtype=self.numpy.int32).reshape(own)
        return self.numpy.broadcast_to(numbers, of).reshape(-1)

    def rounded(self, values, output):
        """To the nearest of the type of C, ties to even; eight bits saturate, infinities too."""
        numpy = self.numpy
        if output in EIGHT_BITS:
            return self._eight_bits(values, *EIGHT_BITS[output])
        if output != "bf16":
            with numpy.errstate(over="ignore"):
                return values.astype(self.types[output])
        bits = values.astype(numpy.float32).view(numpy.uint32)
        nearest = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        return numpy.where(numpy.isnan(values), bits >> 16 | 0x40, nearest).astype(numpy.uint16)

    def _eight_bits(self, values, exponent_bits, fraction_bits, highest, nan):
        numpy = self.numpy
        codes = numpy.arange(highest + 1)
        exponents, fractions = codes >> fraction_bits, (codes & (1 << fraction_bits) - 1) / 2.0**fraction_bits
        bias = 2 ** (exponent_bits - 1) - 1
        normal = exponents > 0
        magnitudes = (fractions + normal) * 2.0 ** (numpy.where(normal, exponents, 1) - bias)
        middles = (magnitudes[1:] + magnitudes[:-1]) / 2
        found = numpy.searchsorted(middles, numpy.abs(values))
        is_tie = numpy.abs(values) == numpy.append(middles, numpy.nan)[numpy.minimum(found, highest)]
        found = numpy.where(numpy.isnan(values), nan, found + (is_tie & (found % 2 == 1)))
        return (found | numpy.signbit(values) << 7).astype(numpy.uint8)

    def filled(self, count, byte):
        return self.numpy.full(count, byte, dtype=self.numpy.uint8)

    def bytes_of(self, array):
        return self.numpy.ascontiguousarray(array).view(self.numpy.uint8).reshape(-1)

    def as_array(self, value):
        return self.numpy.asarray(value) if hasattr(value, "__array__") else None

    def write(self, array, path):
        self.bytes_of(array).tofile(path)

    def wait(self):
        pass

    def give_memory_back(self):
        """Has no effect on the time of a launch here."""

    def flush_before_samples(self):
        """Twice the cache is written before each sample from here on."""
        self.flushed = self.numpy.zeros(2 * self.cache_bytes, dtype=self.numpy.uint8)

    def times(self, launch, count):
        """Nanoseconds of each of `count` launches."""
        samples = []
        for _ in range(count):
            if self.flushed is not None:
                self.flushed += 1
            start = time.perf_counter_ns()
            launch()
            samples.append(max(1, time.perf_counter_ns() - start))
        return samples

    def back_to_back(self, launch, count):
        """Nanoseconds of `count` launches together."""
        start = time.perf_counter_ns()
        for _ in range(count):
            launch()
        return time.perf_counter_ns() - start

    def launches(self, launch, name):
        (taken,) = self.times(launch, 1)
        record = {"name": name, "startNs": 0, "endNs": taken, "stream": 0, "grid": [1, 1, 1], "block": [1, 1, 1]}
        return [{**record, "registersPerThread": 0, "sharedMemoryBytes": 0}], ""

    batch = 1


def amd_uuid(text):
    """HIP's uuid is 16 digits of text, which PyTorch writes as the hexadecimal of their codes."""
    try:
        digits = bytes.fromhex(text.replace("-", "")).decode("ascii")
        int(digits, 16)
        return digits
    except ValueError:
        return text


class CudaDevice:
    """Tensors are torch's, on its current device: an AMD GPU under PyTorch for ROCm. FP8 and scales come as uint8."""

    batch = 8
    has_graphs = True
    SPIN_CYCLES = 1_000_000

    def __init__(self, _request):
        import torch

        self.torch = torch
        about = torch.cuda.get_device_properties(0)
        is_amd = torch.version.hip is not None
        self.clock, self.tracer = ("HIP events", "roctracer") if is_amd else ("CUDA events", "CUPTI")
        self.cache_bytes = about.L2_cache_size
        # CDNA3 and CDNA4 have 256 MB of Infinity Cache behind their L2.
        if is_amd and about.gcnArchName.startswith(("gfx94", "gfx95")):
            self.cache_bytes = 256 << 20
        self.free_bytes = torch.cuda.mem_get_info()[0] * 2 // 5
        self.flushed = None
        eight_bits = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
        self.types = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, **eight_bits}

    @staticmethod
    def uuid():
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch sees no GPU.")
        uuid = str(torch.cuda.get_device_properties(0).uuid)
        return "GPU-" + (uuid if torch.version.hip is None else amd_uuid(uuid))

    def read(self, path):
        return self.torch.from_file(path, shared=False, size=os.path.getsize(path), dtype=self.torch.uint8).cuda()

    def copy(self, tensor):
        return tensor.clone()

    def floats(self, path):
        return self.read(path).view(self.torch.float32)

    def unpacked(self, codes, bits):
        return unpacked(codes, bits, self.torch.stack)

    def look_up(self, table, codes):
        return table[codes.int()]

    def integers(self, values):
        return self.torch.tensor(values, dtype=self.torch.int32, device="cuda")

    def matrices(self, own, of):
        numbers = self.torch.arange(math.prod(own), dtype=self.torch.int32, device="cuda").reshape(own)
        return numbers.broadcast_to(of).reshape(-1)

    def rounded(self, values, output):
        if output in EIGHT_BITS:
            # torch's own conversion gives NaN and infinities beyond the range.
            most = self.torch.finfo(self.types[output]).max
            values = values.clamp(-most, most)
        return values.to(self.types[output])

    def filled(self, count, byte):
        return self.torch.full((count,), byte, dtype=self.torch.uint8, device="cuda")

    def bytes_of(self, tensor):
        return tensor.contiguous().view(self.torch.uint8).reshape(-1)

    def as_array(self, value):
        return value if isinstance(value, self.torch.Tensor) else None

    def write(self, tensor, path):
        self.bytes_of(tensor).cpu().numpy().tofile(path)

    def wait(self):
        self.torch.cuda.synchronize()

    def give_memory_back(self):
        """To the driver. What was loaded since it last got some launches sooner than at any later time (docs/measurement.md)."""
        self.filled(32 << 20, 0)
        self.torch.cuda.empty_cache()

    def flush_before_samples(self):
        """Twice the last cache is written before each sample from here on."""
        self.flushed = self.torch.zeros(2 * self.cache_bytes, dtype=self.torch.uint8, device="cuda")

    def times(self, launch, count):
        """Nanoseconds of each launch: pairs of events, queued behind a spin that holds the stream back."""
        event = self.torch.cuda.Event
        pairs = [(event(enable_timing=True), event(enable_timing=True)) for _ in range(count)]
        self.torch.cuda._sleep(self.SPIN_CYCLES)
        for start, stop in pairs:
            if self.flushed is not None:
                self.flushed.zero_()
            start.record()
            launch()
            stop.record()
        self.torch.cuda.synchronize()
        return [start.elapsed_time(stop) * 1e6 for start, stop in pairs]

    def graphs(self, launch, launches, samples):
        """What queues each of `samples` graphs of `launches`; none where a launch cannot be captured, as it waits for the GPU."""
        made = []
        try:
            for _ in range(samples):
                graph = self.torch.cuda.CUDAGraph()
                with self.torch.cuda.graph(graph):
                    for _ in range(launches):
                        launch()
                made.append(graph.replay)
            # The first launch of a graph uploads it.
            for replay in made:
                replay()
            self.torch.cuda.synchronize()
        except Exception:  # what capturing meets has a type for each library
            return []
        return made

    def back_to_back(self, launch, count):
        start, stop = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(count):
            launch()
        stop.record()
        self.torch.cuda.synchronize()
        return start.elapsed_time(stop) * 1e6

    def launches(self, launch, _name):
        """Records of one product's launches from PyTorch's profiler; none where what it traces with is missing or refuses."""
        from .launches import recorded

        records = recorded(self.torch, launch)
        return records, self.tracer if records else ""


devices = {"cpu": CpuDevice, "cuda": CudaDevice}


def free_unused():
    """Gives back what an answer held of the GPU's memory, for the next one may be another program's."""
    gc.collect()
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and cuda.is_initialized():
        cuda.empty_cache()
