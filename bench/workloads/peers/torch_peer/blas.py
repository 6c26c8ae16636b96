"""Matrix library that PyTorch loads: its name and kernel set."""
import ctypes
import glob
import mmap
import os
import re

from torch_peer.python import folder_of_torch

SHARED = "libblas.so.3"  # name under which distributions offer alternatives


def needs_shared():
    """Returns whether PyTorch links to SHARED; other builds may contain a BLAS."""
    for path in glob.glob(os.path.join(folder_of_torch(), "lib", "libtorch_cpu.so*")):
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as library:
            if library.find(b"\0" + SHARED.encode() + b"\0") >= 0:
                return True
    return False


def loaded():
    """Returns paths and handles of the loaded BLAS libraries."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        paths = sorted({line.split()[-1] for line in file if "blas" in line or "libblis" in line})
    # Debian's BLIS has its BLAS functions in one file and its own functions in a second one.
    beside = [p for path in paths for p in glob.glob(os.path.dirname(path) + "/libblis.so*")]
    return [(path, ctypes.CDLL(path)) for path in paths + beside]


def text_of(function, *arguments):
    function.restype = ctypes.c_char_p
    return function(*arguments).decode()


def blis_of(libraries):
    """Returns the first library with BLIS's own functions, or None."""
    return next((library for _, library in libraries if hasattr(library, "bli_info_get_version_str")), None)


def take_kernel_set(about):
    """Sets BLIS to train_cnn's kernel set; call it before PyTorch is loaded. BLIS does not know processors
    newer than itself and uses portable C for them, several times slower. Numbers of kernel sets depend on
    BLIS's version, which must be equal. A user's BLIS_ARCH_TYPE is kept."""
    if about["blis_arch_type"] is None or not needs_shared():
        return
    ctypes.CDLL(SHARED)
    library = blis_of(loaded())
    if library and about["blas"].split()[1] == text_of(library.bli_info_get_version_str):
        os.environ.setdefault("BLIS_ARCH_TYPE", about["blis_arch_type"])


def name(config):
    """Returns the library's own name, such as "BLIS 0.9.0 skx". config: torch.__config__.show()."""
    mkl = re.search(r"Math Kernel Library.*?Version ([\d.]+)", config)
    if mkl:
        return f"MKL {mkl[1]}"
    libraries = loaded()
    library = blis_of(libraries)
    if library:
        library.bli_init()
        return (f"BLIS {text_of(library.bli_info_get_version_str)} "
                f"{text_of(library.bli_arch_string, library.bli_arch_query_id())}")
    for _, library in libraries:
        if hasattr(library, "openblas_get_config"):
            return " ".join(text_of(library.openblas_get_config).split()[:2])
    return "/".join(libraries[0][0].split("/")[-2:]) if libraries else "no BLAS"
