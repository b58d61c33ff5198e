"""Kernel provider for Triton: answers JSON lines on standard input and output; README.md beside this is the protocol.

Every run happens in a worker process of its own: Triton's compiler aborts on what it cannot lower (nvfp4 below sm_100),
and that must cost one answer, not the provider.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

WORKER_TIMEOUT_S = 300


def reply(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def worker(params, on_event):
    """Runs worker.py with `params`; its last message, or a reason when it died."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")
    # An aborting compiler writes more than a pipe holds: its words go to a file.
    with tempfile.TemporaryFile("w+", errors="replace") as words:
        process = subprocess.Popen(
            [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words, text=True
        )
        watchdog = threading.Timer(WORKER_TIMEOUT_S, process.kill)
        watchdog.start()
        process.stdin.write(json.dumps(params))
        process.stdin.close()
        result, seen = None, []
        for line in process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue  # a library that prints
            if "event" in message:
                seen.append(message["event"])
                on_event(message["event"])
            else:
                result = message
        code = process.wait()
        watchdog.cancel()
        words.seek(0)
        errors = words.read()
    if result is not None and code == 0:
        return result
    return {"error": {"code": "unavailable", "message": why(code, errors), "configs": seen}}


def why(code, errors):
    """A sentence for a worker that died without an answer."""
    told = [line.strip() for line in errors.splitlines() if "error:" in line or "Assertion" in line or "Error" in line]
    detail = " " + told[0][:300] if told else ""
    if code < 0:
        return f"Triton's compiler ended with {signal.Signals(-code).name}.{detail}"
    return f"The Triton worker ended with code {code}.{detail}"


def main():
    for line in sys.stdin:
        if not line.strip():
            continue
        request = {}
        try:
            request = json.loads(line)
            number, method = request["id"], request["method"]
            if method == "end":
                return
            if method not in ("detect", "run"):
                raise ValueError(f'"{method}" is no method; there are detect, run and end')
            params = {**request.get("params", {}), "method": method}
            reply({"id": number, **worker(params, lambda event: reply({"id": number, "event": event}))})
        except (ValueError, KeyError, TypeError) as error:
            number = request.get("id") if isinstance(request, dict) else None
            reply({"id": number, "error": {"code": "usage", "message": f"Bad request: {error}."}})


if __name__ == "__main__":
    main()
