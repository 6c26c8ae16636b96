"""Choice of an interpreter with PyTorch, and the environment of its libraries."""
import glob
import hashlib
import importlib.util
import mmap
import os
import re
import shutil
import subprocess
import sys

from torch_peer.failure import UNAVAILABLE, Failure

NO_GLOO = "this PyTorch has no gloo, which several ranks need"
CHOSEN = "PEER_TORCH_PYTHON"  # set when this program restarts in another interpreter


def last_option(key, preset):
    """Returns the last value of --key=value or --key value."""
    value = preset
    for i, word in enumerate(sys.argv):
        if word.startswith(f"--{key}="):
            value = word.split("=", 1)[1]
        elif word == f"--{key}" and i + 1 < len(sys.argv):
            value = sys.argv[i + 1]
    return value


def has_torch(python):
    find = "import importlib.util; print(importlib.util.find_spec('torch') is not None)"
    answer = subprocess.run([python, "-c", find], capture_output=True, text=True, check=False)
    return answer.stdout.strip() == "True"


def change_to(python):
    os.environ[CHOSEN] = python
    os.execv(python, [python, *sys.argv])


def choose():
    """Restarts this program in the interpreter of peer.python, or the first one with PyTorch."""
    wanted = last_option("peer.python", "auto")
    here = importlib.util.find_spec("torch") is not None
    if os.environ.pop(CHOSEN, None) is not None:
        return
    if wanted == "auto":
        distribution = "/usr/bin/python3"
        if here:
            return
        if os.access(distribution, os.X_OK) and has_torch(distribution):
            change_to(distribution)
        raise Failure(UNAVAILABLE, f"PyTorch is missing: no module 'torch' in {sys.executable} or "
                                   f"{distribution}. Set peer.python to a Python with PyTorch")
    path = shutil.which(wanted)
    if path is None:
        raise Failure(UNAVAILABLE, f"peer.python: expected an executable program, found '{wanted}'")
    if not has_torch(path):
        raise Failure(UNAVAILABLE, f"PyTorch is missing: no module 'torch' in peer.python = {path}")
    change_to(path)


def folder_of_torch():
    return os.path.dirname(importlib.util.find_spec("torch").origin)


def has_gloo():
    """Returns whether PyTorch has gloo. Searches its library for the name of gloo's type, since importing
    PyTorch takes a second; imports it only if the name is not found."""
    for path in glob.glob(os.path.join(folder_of_torch(), "lib", "libtorch_python.so*")):
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as library:
            if library.find(b"N4c10d16ProcessGroupGlooE") >= 0:
                return True
    from torch import distributed
    return distributed.is_available() and hasattr(distributed, "ProcessGroupGloo")


def check_ranks(ranks):
    """Rejects several ranks if PyTorch lacks gloo."""
    if ranks > 1 and not has_gloo():
        raise Failure(UNAVAILABLE, NO_GLOO)


def describe():
    """Returns PyTorch's version and folder and a digest of these files, without importing PyTorch, which
    takes a second."""
    digest = hashlib.sha256()
    for path in sorted(glob.glob(os.path.join(os.path.dirname(__file__), "*.py"))):
        with open(path, "rb") as file:
            digest.update(file.read())
    folder = folder_of_torch()
    with open(os.path.join(folder, "version.py"), encoding="utf-8") as file:
        version = re.search(r"__version__\s*=\s*['\"]([^'\"]+)", file.read())
    return (f"torch {version[1] if version else 'of unknown version'} in {folder}, "
            f"{sys.executable}, peer {digest.hexdigest()[:16]}")


def allow_wide_vectors():
    """Enables AVX-512 in ATen, which needs a request and does not check the processor."""
    wanted = {"avx512f", "avx512bw", "avx512dq", "avx512vl"}
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = re.search(r"^flags\s*:(.*)", file.read(), re.M)
    if flags and wanted <= set(flags[1].split()):
        os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx512")


def set_environment(threads):
    """Sets variables that libraries read when they are loaded. The launcher sets one thread per library,
    but PyTorch needs `threads` in its libraries."""
    for name in ("OMP_NUM_THREADS", "BLIS_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = threads
    allow_wide_vectors()
