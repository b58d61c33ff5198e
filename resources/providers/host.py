"""Answers one request about a file of Python kernels, as docs/providers.md describes them.

The request is one line of JSON on standard input; events and the answer are lines of JSON on what was standard output when
this began. One process for one request: a kernel that crashes or hangs costs that answer and nothing else. With
`--fork MODULE ...` it imports modules and forks those processes (blockscope_host/forking.py).
"""

import json
import os
import sys
import threading

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
    """Answers one request and ends the process."""

    def say(message):
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    request = json.loads(requests.readline())

    def end_with_parent():
        requests.read()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        method = {"detect": detect, "run": run}[request["method"]]
        result = method(request, lambda event: say({"event": event}))
        say({"result": result, "imported": [name for name in SLOW_MODULES if name in sys.modules]})
    except Trouble as trouble:
        say({"error": {"code": trouble.code, "message": str(trouble)}})
    # A library's threads may not end by themselves.
    answers.close()
    os._exit(0)


def main():
    if sys.argv[1:2] == ["--fork"]:
        fork_requests(sys.argv[2:], serve)
    serve(*take_streams())


if __name__ == "__main__":
    main()
