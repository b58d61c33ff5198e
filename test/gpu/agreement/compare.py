"""Reads what run.sh gathered in a folder, prints each kernel's times side by side.

Medians within 2 % and a microsecond pass: the tools stamp start and end half a microsecond apart. So do samples whose middle
halves overlap: a kernel bound by memory alone differs from launch to launch by more than that.
"""

import csv
import json
import pathlib
import statistics
import sys

folder = pathlib.Path(sys.argv[1])
LIMIT = 0.02
STAMPS_NS = 1000
# Below this the stamps are most of the difference.
JUDGED_FROM_NS = 20e3
passed = failed = 0


def middle_half(samples):
    ordered = sorted(samples)
    return ordered[len(ordered) // 4], ordered[(3 * len(ordered)) // 4 - (len(ordered) % 4 == 0)]


def overlap(some, others):
    (low, high), (other_low, other_high) = middle_half(some), middle_half(others)
    return low <= other_high and other_low <= high


def judge(what, some, others, tool):
    """Samples in nanoseconds, ours first."""
    global passed, failed
    ours, theirs = statistics.median(some), statistics.median(others)
    ratio = ours / theirs
    good = abs(ours - theirs) <= LIMIT * theirs + STAMPS_NS or overlap(some, others)
    passed, failed = passed + good, failed + (not good)
    print(f"{'pass' if good else 'FAIL'}  {what[:58]:58} {ours / 1e3:10.2f} us  {tool:7}{theirs / 1e3:10.2f} us  {ratio:.4f}")


def ncu_times(path):
    lines = path.read_text().splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        print("ncu gave no table:", " ".join(lines[-2:])[:200])
        return {}
    times = {}
    for row in csv.DictReader(lines[start:]):
        if row["Metric Name"] == "gpu__time_duration.sum":
            times.setdefault(row["Kernel Name"].split("(")[0].split("<")[0].split()[-1], []).append(
                float(row["Metric Value"].replace(",", "")))
    return times


for path in sorted(folder.glob("*.json")):
    data = json.loads(path.read_text() or "{}")
    if path.name == "proton.json":
        if data:
            judge("block_scaled_matmul (Triton), events", [data["eventsNs"]], [data["protonNs"]], "Proton")
        continue
    table = folder / (path.stem + ".csv")
    theirs = ncu_times(table) if table.exists() else {}
    for launch in data["launches"]:
        # The driver reports mangled names, ncu plain ones: the plain one is part of the mangled.
        match = [name for name in theirs if name == launch["name"]] or [
            name for name in theirs if len(name) > 20 and name in launch["name"]]
        if match and launch["medianNs"] >= JUDGED_FROM_NS:
            judge(f"{path.stem}: {launch['name']}", launch["ns"], theirs[match[0]], "ncu")
        elif launch["medianNs"] >= JUDGED_FROM_NS:
            print(f"      {path.stem}: {launch['name']}: {launch['medianNs'] / 1e3:.2f} us, not seen by ncu")
    print(f"      {path.stem}: events {data['eventsNs'] / 1e3:.2f} us, sum of launches "
          f"{sum(l['medianNs'] for l in data['launches']) / 1e3:.2f} us")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
