"""Answers requests about one file of Python kernels, as docs/providers.md describes them.

A request is one line of JSON on standard input; events and the answer are lines of JSON on what was standard output when
this began. A kernel that crashes or hangs costs the answer that was being made and nothing else; one that failed may have left
anything behind, so this process ends with that answer. With `--fork MODULE ...` it imports modules and forks such processes
(blockscope_host/forking.py).
"""

import json
import os
import queue
import signal
import sys
import threading

from blockscope_host.devices import free_unused
from blockscope_host.forking import fork_requests
from blockscope_host.kernelFile import Trouble, detect
from blockscope_host.product import run


def take_streams():
    """Request and answers get descriptors of their own: what a library prints, in Python or in C, goes to stderr."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, answers


# What takes long to import, and may be imported before a fork.
SLOW_MODULES = ("torch", "triton")


def serve(requests, answers):
    """Answers one request after the other. Ends the process with the requests, or behind an answer that something failed."""

    def say(message):
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    lines = queue.SimpleQueue()

    def read():
        for line in requests:
            lines.put(line)
        os._exit(1)

    # Beside the answers: what hangs ends with the engine too.
    threading.Thread(target=read, daemon=True).start()
    methods = {"detect": detect, "run": run}
    failed = False
    while not failed:
        request = json.loads(lines.get())
        try:
            answer = {"result": methods[request["method"]](request, lambda event: say({"event": event}))}
        except Trouble as trouble:
            failed = trouble.code == "failed"
            answer = {"error": {"code": trouble.code, "message": str(trouble)}}
        # Ahead of the answer: freeing waits for the GPU, which is measured by others next.
        if not failed:
            free_unused()
        say({**answer, "imported": [name for name in SLOW_MODULES if name in sys.modules]})
    # A library's threads may not end by themselves.
    answers.close()
    os._exit(0)


def main():
    # Ctrl-C and a scheduler's signal reach every process of the group; the program that asks decides what they mean.
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: None)
    if sys.argv[1:2] == ["--fork"]:
        fork_requests(sys.argv[2:], serve)
    serve(*take_streams())


if __name__ == "__main__":
    main()
