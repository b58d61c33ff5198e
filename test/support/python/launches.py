"""Launches kernels of the stand-in of the driver from Python, with the GIL released (CDLL, as PyTorch and Triton do) and
held (PyDLL), and prints for each the frames that Python itself names, outermost first: one JSON list a line.

launches.py DRIVER [COUNT]: with COUNT it launches as often, prints nanoseconds of the thread per launch, and no frames.
"""

import ctypes
import json
import os
import sys
import threading
import time

driver_path = sys.argv[1]
releasing = ctypes.CDLL(driver_path)
holding = ctypes.PyDLL(driver_path)
releasing.cuInit(0)

duration = ctypes.c_uint64(1000)
parameters = (ctypes.c_void_p * 1)(ctypes.addressof(duration))
names = {}


def kernel(name):
    """What the stand-in takes for a function: a C++ string, which begins with where its text lies."""
    if name not in names:
        # Records name it when it has long run.
        text = ctypes.create_string_buffer(name.encode())
        names[name] = (text, (ctypes.c_uint64 * 4)(ctypes.addressof(text), len(name)))
    return ctypes.cast(names[name][1], ctypes.c_void_p)


def say(name):
    frame, path = sys._getframe(1), []
    while frame:
        path.append(f"{frame.f_code.co_filename}:{frame.f_lineno}@{frame.f_code.co_name}")
        frame = frame.f_back
    print(json.dumps([name, *reversed(path)]))


def launch(library, name, aloud=True):
    function = kernel(name)
    aloud and say(name); library.cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, None, parameters, None)


class Ranges:
    """What NVTX's headers put into a module: a table whose slots an injected library fills."""

    def __init__(self):
        self.slots = (ctypes.c_void_p * 16)()
        self.table = (ctypes.c_void_p * 16)(*(ctypes.addressof(self.slots) + 8 * slot for slot in range(16)))
        get = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint))
        self.get = get(self.module_table)
        self.callbacks = (ctypes.c_void_p * 2)(16, ctypes.cast(self.get, ctypes.c_void_p))
        self.export = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint)(lambda _: ctypes.addressof(self.callbacks))
        ctypes.CDLL(os.environ["NVTX_INJECTION64_PATH"]).InitializeInjectionNvtx2(self.export)

    def module_table(self, module, table, size):
        table[0] = ctypes.addressof(self.table)
        size[0] = 16
        return module == 1

    def push(self, name):
        ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(self.slots[9])(name)

    def pop(self):
        ctypes.CFUNCTYPE(ctypes.c_int)(self.slots[11])()


def recurse(depth, name="deep"):
    if depth:
        return recurse(depth - 1, name)
    launch(releasing, name)


def generator():
    launch(holding, "generated")
    yield 1


class Größe:
    def schritt(self):
        launch(releasing, "method")


def comprehension():
    return [launch(library, "listed") for library in (releasing, holding)]


def main():
    launch(releasing, "released")
    launch(holding, "held")
    ranges = Ranges()
    ranges.push(b"step")
    launch(releasing, "in a range")
    ranges.pop()
    recurse(40)
    recurse(600, "deeper")
    list(generator())
    Größe().schritt()
    comprehension()
    sorted([2, 1], key=lambda one: launch(releasing, "called by C") or one)
    for _ in range(3):
        launch(releasing, "again")
    # A code object of the same place in memory may be another.
    for number in range(20):
        scope = {"launch": launch, "releasing": releasing}
        exec(compile(f"def made{number}():\n  launch(releasing, 'made')\nmade{number}()", f"made-{number}.py", "exec"), scope)
    worker = threading.Thread(target=recurse, args=(2,))
    worker.start()
    worker.join()
    releasing.cuCtxSynchronize()


def measure(count, depth=30):
    if depth:
        return measure(count, depth - 1)
    function = kernel("empty")
    launches = releasing.cuLaunchKernel
    arguments = (function, 8, 1, 1, 128, 1, 1, 0, None, parameters, None)
    begun = time.thread_time_ns()
    for _ in range(count):
        launches(*arguments)
    print((time.thread_time_ns() - begun) / count)


if len(sys.argv) > 2:
    measure(int(sys.argv[2]))
else:
    main()
