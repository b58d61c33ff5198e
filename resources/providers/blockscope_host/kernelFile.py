"""A file of Python kernels: loading it, and what each kernel in it says of itself."""

import os
import re
import sys
import traceback
import types

from .devices import devices

# Of what a file may say and is given (docs/providers.md), and of requests and answers (README.md). 2: `takes`, batches,
# accumulators, B as (K, N), C of eight bits.
PROTOCOL = 2

METHODS = ("detect", "prepare", "run")
LEVELS = ("native", "exact", "approximate", "unavailable")
MOST_WORDS = 300

# What to do about errors that are met often, by words of their messages.
HINTS = (
    ("no allocator was set", "its descriptors are made on the device: call triton.set_allocator() in prepare()"),
    ("out of resource: shared memory", "take fewer stages or a smaller tile"),
    ("an illegal memory access", "it read or wrote outside its memory; compute-sanitizer shows where"),
)


class Trouble(Exception):
    """One sentence for a person. `code`: usage (the file is wrong), unavailable (not here), failed (it went wrong)."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def words_of(error):
    """Type and first line of an exception, and what to do where that is known."""
    lines = str(error).strip().splitlines()
    said = lines[0][:MOST_WORDS].rstrip(".") if lines else ""
    hint = next((f" ({what})" for words, what in HINTS if words in str(error)), "")
    return f"{type(error).__name__}: {said}{hint}" if said else type(error).__name__


def place_of(error, path):
    """' (line 12)', the innermost line of the file that an exception came through; '' where it is elsewhere."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f" (line {lines[-1]})" if lines else ""


def is_mistake(trouble, path):
    """Whether a call failed by what the file itself raised: no RuntimeError, by which it says that something does not run."""
    error = trouble.__cause__
    if error is None or isinstance(error, RuntimeError):
        return False
    return traceback.extract_tb(error.__traceback__)[-1].filename == path


def missing_package(error, kernel=None):
    """What an ImportError means, and what to do."""
    package = (error.name or "").split(".")[0]
    if not package:
        return f"{words_of(error)}."
    usual = f"pip install {package}"
    install = usual if package in ("numpy", "torch", "triton") else getattr(kernel, "install", usual)
    return f"It needs {package}, which {sys.executable} does not have ({install})."


class KernelFile:
    """The kernels of a file by id: every class with detect, prepare and run whose name has no leading underscore."""

    def __init__(self, path, known):
        self.path, self.name, self.known = path, os.path.basename(path), known
        module = self._load()
        self.kernels = {}
        incomplete = []
        for kernel in vars(module).values():
            if not isinstance(kernel, type) or kernel.__module__ != module.__name__ or kernel.__name__.startswith("_"):
                continue
            lacking = [method for method in METHODS if not callable(getattr(kernel, method, None))]
            if lacking:
                incomplete += [f" {kernel.__name__} lacks {', '.join(lacking)}."] if len(lacking) < len(METHODS) else []
                continue
            described = self._describe(kernel)
            if described["id"] in self.kernels:
                raise self._wrong(f'two kernels have the id "{described["id"]}"')
            self.kernels[described["id"]] = (kernel, described)
        if not self.kernels:
            raise Trouble("usage", f"{self.name} has no class with detect, prepare and run.{''.join(incomplete)}")

    def _wrong(self, what):
        return Trouble("usage", f"{self.name}: {what}.")

    def _load(self):
        try:
            with open(self.path, encoding="utf-8") as file:
                source = file.read()
            code = compile(source, self.path, "exec")
        except SyntaxError as error:
            raise Trouble("usage", f"{self.name}, line {error.lineno}: {error.msg}.") from error
        except (OSError, ValueError) as error:
            raise Trouble("usage", f"{self.name} cannot be read: {words_of(error)}.") from error
        # Its neighbours can be imported, behind all else: a file that is called numpy.py is not numpy.
        sys.path.append(os.path.dirname(os.path.abspath(self.path)))
        module = types.ModuleType("blockscope_kernel_file")
        module.__file__ = self.path
        sys.modules[module.__name__] = module
        try:
            exec(code, module.__dict__)
        except ImportError as error:
            raise Trouble("unavailable", f"{self.name}: {missing_package(error)}") from error
        except BaseException as error:
            raise self._wrong(f"loading it raised {words_of(error)}{place_of(error, self.path)}") from error
        return module

    def _describe(self, kernel):
        """What the class says of itself, checked; `formats` and `version` are as they are before detect()."""
        name = kernel.__name__
        ident = getattr(kernel, "id", name)
        if not isinstance(ident, str) or not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,63}", ident):
            raise self._wrong(
                f"{name}.id is {ident!r}; an id is up to 64 letters, digits, dots, dashes and underscores"
            )

        def one(attribute, usual, allowed):
            value = getattr(kernel, attribute, usual)
            if value not in allowed:
                raise self._wrong(f"{name}.{attribute} is {value!r}; it is one of {', '.join(allowed)}")
            return value

        outputs = list(getattr(kernel, "outputs", ("f16", "bf16", "f32")))
        for output in outputs:
            if output not in self.known["outputs"]:
                raise self._wrong(
                    f"{name}.outputs names {output!r}; C is one of {', '.join(self.known['outputs'])}"
                )
        protocol = getattr(kernel, "protocol", PROTOCOL)
        if protocol not in range(1, PROTOCOL + 1):
            raise self._wrong(f"{name}.protocol is {protocol!r}; this blockscope speaks up to {PROTOCOL}: take a newer one")
        summary = (kernel.__doc__ or "").strip().splitlines()
        return {
            "id": ident,
            "summary": summary[0] if summary else f"{name} of {self.name}",
            "device": one("device", "cuda", list(devices)),
            "scaleLayout": one("scale_layout", "linear", self.known["layouts"]),
            "codes": one("codes", "packed", ("packed", "bytes")),
            "outputs": outputs,
            "takes": self._takes(kernel),
            "baseline": bool(getattr(kernel, "baseline", False)),
            "operandBits": int(getattr(kernel, "operand_bits", 0)),
            "compileOptions": str(getattr(kernel, "compile_options", "")),
        }

    def _takes(self, kernel):
        """{feature: how}, of a list of features or of a dict that has it already."""
        takes = getattr(kernel, "takes", ())
        for feature in takes:
            if feature not in self.known["features"]:
                allowed = ", ".join(self.known["features"])
                raise self._wrong(f"{kernel.__name__}.takes names {feature!r}; a kernel takes {allowed}")
        return {feature: str(takes[feature]) if isinstance(takes, dict) else "" for feature in takes}

    def formats_of(self, instance):
        """{id: {level, reason, instruction}} of an instance's `formats`, which detect() may have set."""
        name = type(instance).__name__
        formats = getattr(instance, "formats", None)
        if not formats:
            raise self._wrong(f"{name}.formats names no format")
        if not isinstance(formats, dict):
            formats = {format: "exact" for format in formats}
        found = {}
        for format, level in formats.items():
            if format not in self.known["formats"]:
                raise self._wrong(
                    f'{name}.formats names "{format}", which is no block-scaled format ("blockscope formats" lists them)'
                )
            entry = level if isinstance(level, dict) else {"level": level}
            if entry.get("level") not in LEVELS:
                raise self._wrong(f"{name}.formats has the level {entry.get('level')!r}; levels are {', '.join(LEVELS)}")
            found[format] = {"reason": "", "instruction": "", **entry}
        return found

    def call(self, phase, method, *arguments, kernel):
        """One of a kernel's methods; whatever it raises becomes a sentence."""
        try:
            return method(*arguments)
        except ImportError as error:
            raise Trouble("unavailable", f"{self.name}: {missing_package(error, kernel)}") from error
        except NotImplementedError as error:
            raise Trouble("unavailable", f"{self.name}: {str(error) or 'it does not take this product.'}") from error
        except BaseException as error:
            raise Trouble(
                "failed", f"{self.name}: {phase}() raised {words_of(error)}{place_of(error, self.path)}."
            ) from error


_files = {}


def kernel_file(path, known):
    """The file as it was when this process first read it; the engine asks another process once it has changed."""
    if path not in _files:
        _files[path] = KernelFile(path, known)
    return _files[path]


def detect(request, _say):
    """Every kernel of the file, with the reason where it cannot run here."""
    file = kernel_file(request["file"], request["known"])
    found = []
    for kernel, described in file.kernels.values():
        entry = {**described, "version": "", "uuid": "", "formats": {}, "reason": ""}
        try:
            instance = kernel()
            entry["version"] = str(instance.detect() or "")
            entry["uuid"] = devices[described["device"]].uuid()
        except ImportError as error:
            entry["reason"] = missing_package(error, kernel)
        except RuntimeError as error:
            entry["reason"] = str(error) or "detect() raised a RuntimeError without a word."
        except BaseException as error:
            raise Trouble(
                "failed", f"{file.name}: detect() raised {words_of(error)}{place_of(error, file.path)}."
            ) from error
        if not entry["reason"]:
            entry["formats"] = file.formats_of(instance)
        found.append(entry)
    return {"protocol": PROTOCOL, "python": sys.version.split()[0], "kernels": found}
