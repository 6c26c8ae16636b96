"""The matrix library that PyTorch has loaded: its name, and the kernel set it computes with."""
import ctypes
import glob
import os
import re

import torch


def libraries():
    """Paths and libraries with functions of a BLAS, MKL apart, which PyTorch has inside."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        paths = sorted({line.split()[-1] for line in file if "blas" in line or "libblis" in line})
    # Debian's BLIS shows BLAS functions in one file and its own in another beside it.
    beside = [p for path in paths for p in glob.glob(os.path.dirname(path) + "/libblis.so*")]
    return [(path, ctypes.CDLL(path)) for path in paths + beside]


def text_of(function, *arguments):
    function.restype = ctypes.c_char_p
    return function(*arguments).decode()


def blis(found):
    return next((library for _, library in found if hasattr(library, "bli_info_get_version_str")), None)


def take_kernel_set(about):
    """Before the first product. BLIS takes a processor newer than itself for an unknown one and computes
    with portable C, a third as fast; so it is asked for the kernel set that train_cnn asks it for, by the
    number that the same version gives it. What the user set wins."""
    library = blis(libraries())
    if library and about["blis_arch_type"] is not None and \
            about["blas"].split()[1] == text_of(library.bli_info_get_version_str):
        os.environ.setdefault("BLIS_ARCH_TYPE", about["blis_arch_type"])


def name():
    """As the library names itself: "BLIS 0.9.0 skx"."""
    mkl = re.search(r"Math Kernel Library.*?Version ([\d.]+)", torch.__config__.show())
    if mkl:
        return f"MKL {mkl[1]}"
    found = libraries()
    library = blis(found)
    if library:
        library.bli_init()
        return (f"BLIS {text_of(library.bli_info_get_version_str)} "
                f"{text_of(library.bli_arch_string, library.bli_arch_query_id())}")
    for _, library in found:
        if hasattr(library, "openblas_get_config"):
            return " ".join(text_of(library.openblas_get_config).split()[:2])
    return "/".join(found[0][0].split("/")[-2:]) if found else "no BLAS"
