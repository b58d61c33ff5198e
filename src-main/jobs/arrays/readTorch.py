"""The tensors of a file of torch.save, as .safetensors on standard output: python3 -c "$(cat readTorch.py)" FILE.

Nothing of the file but tensors is unpickled (weights_only). One line of JSON on standard error says why it did not work.
"""

import ctypes
import json
import struct
import sys

# torch's names to those of safetensors; float4_e2m1fn_x2 counts pairs, F4 counts codes.
DTYPES = {
    "uint8": "U8", "int8": "I8", "uint16": "U16", "int16": "I16", "uint32": "U32", "int32": "I32",
    "uint64": "U64", "int64": "I64", "float16": "F16", "bfloat16": "BF16", "float32": "F32",
    "float64": "F64", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
    "float8_e8m0fnu": "F8_E8M0", "float4_e2m1fn_x2": "F4",
}  # fmt: skip


def fail(kind, message):
    print(json.dumps({"kind": kind, "message": message}), file=sys.stderr)
    sys.exit(1)


try:
    import torch
except Exception as error:
    fail("no-torch", str(error).splitlines()[0] if str(error) else type(error).__name__)

try:
    loaded = torch.load(sys.argv[1], map_location="cpu", weights_only=True)
except Exception as error:
    fail("file", str(error).splitlines()[0] if str(error) else type(error).__name__)

if isinstance(loaded, torch.Tensor):
    loaded = {"c": loaded}
if not isinstance(loaded, dict):
    fail("file", "it holds a %s, not a dict of tensors" % type(loaded).__name__)

header = {"__metadata__": {str(k): str(v) for k, v in loaded.items() if isinstance(v, (str, int))}}
tensors = {str(name): value for name, value in loaded.items() if isinstance(value, torch.Tensor)}
position = 0
kept = []
for name, tensor in tensors.items():
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype not in DTYPES:
        fail("file", 'its tensor "%s" is %s, which is not taken' % (name, dtype))
    tensor = tensor.detach()
    tensor = tensor if tensor.is_contiguous() else tensor.contiguous()
    shape = list(tensor.shape)
    if DTYPES[dtype] == "F4" and shape:
        shape[-1] *= 2
    count = tensor.numel() * tensor.element_size()
    header[name] = {"dtype": DTYPES[dtype], "shape": shape, "data_offsets": [position, position + count]}
    position += count
    kept.append((tensor, count))

text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
out = sys.stdout.buffer
out.write(struct.pack("<Q", len(text)) + text)
for tensor, count in kept:
    if count > 0:
        out.write(ctypes.string_at(tensor.data_ptr(), count))
out.flush()
