"""One process that has imported what takes seconds, and forks another for each request: as isolated, and at once.

A line of JSON on standard input asks for one: {"name", "sockets": [path, path]}. The fork connects to the first for the
request and its answers, to the second for what libraries print. {"end": pid} ends one. {"started": pid, "name"} and
{"ended": pid, "code", "signal"} are said on standard output. Nothing here touches a GPU: a context of CUDA does not outlive a fork.
"""

import importlib
import json
import os
import selectors
import signal
import socket
import sys


def fork_requests(modules, serve):
    """Until standard input ends. `serve(requests, answers)` answers one request in a fork and does not return."""
    for module in modules:
        try:
            importlib.import_module(module)
        except BaseException:  # the fork that needs it says so
            pass
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and cuda.is_initialized():
        sys.exit("Importing torch began to use the GPU: its forks could not.")
    heard, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken)
    lines = selectors.DefaultSelector()
    lines.register(0, selectors.EVENT_READ)
    lines.register(heard, selectors.EVENT_READ)
    begun = b""
    # Not reaped yet, so their numbers are no other process's.
    forks = set()
    while True:
        for key, _ in lines.select():
            if key.fd == heard:
                os.read(heard, 4096)
                say_ended(forks)
                continue
            read = os.read(0, 65536)
            if not read:
                os._exit(0)
            *whole, begun = (begun + read).split(b"\n")
            for line in whole:
                request = json.loads(line)
                if "end" in request:
                    if request["end"] in forks:
                        os.kill(request["end"], signal.SIGKILL)
                    continue
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    os.close(heard)
                    os.close(woken)
                    serve(*connect(request["sockets"]))
                    os._exit(1)
                forks.add(pid)
                say({"started": pid, "name": request["name"]})


def say(news):
    os.write(1, (json.dumps(news) + "\n").encode())


def say_ended(forks):
    """Every fork that is gone."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        forks.discard(pid)
        by = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else None
        say({"ended": pid, "code": None if by else os.WEXITSTATUS(status), "signal": by})


def connect(paths):
    """Request and answers, as files; the standard streams become nothing and the second socket."""
    talk, words = (socket.socket(socket.AF_UNIX) for _ in paths)
    talk.connect(paths[0])
    words.connect(paths[1])
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(words.fileno(), 1)
    os.dup2(words.fileno(), 2)
    words.close()
    os.close(nothing)
    return talk.makefile("r", encoding="utf-8"), talk.makefile("w", encoding="utf-8")
