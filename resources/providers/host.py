"""Answers one request about a file of Python kernels, as docs/providers.md describes them.

The request is one line of JSON on standard input; events and the answer are lines of JSON on what was standard output when
this began. One process for one request: a kernel that crashes or hangs costs that answer and nothing else.
"""

import json
import os
import sys
import threading

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


def main():
    requests, answers = take_streams()

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
        say({"result": method(request, lambda event: say({"event": event}))})
    except Trouble as trouble:
        say({"error": {"code": trouble.code, "message": str(trouble)}})
    # A library's threads may not end by themselves.
    answers.close()
    os._exit(0)


if __name__ == "__main__":
    main()
