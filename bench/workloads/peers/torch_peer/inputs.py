"""Inputs of a run, from peer_inputs."""
import json
import os
import subprocess
import sys
import time

from torch_peer.failure import FAILED, Failure


def command(rank, ranks, arguments):
    program = os.path.join(os.path.dirname(os.path.realpath(sys.argv[0])), "peer_inputs")
    return [program, "peer_torch", str(rank), str(ranks), *arguments]


class Inputs:
    """Inputs: dictionaries `model` and `about`, and `arrays`, bytes by name."""

    def __init__(self, rank, ranks, arguments):
        self.ranks, begin = ranks, time.monotonic()
        with subprocess.Popen(command(rank, ranks, arguments), stdout=subprocess.PIPE) as process:
            lines = [process.stdout.readline(), process.stdout.readline()]
            if lines[1].endswith(b"\n"):
                self.model, self.about = (json.loads(line) for line in lines)
                self.arrays = {array["name"]: read_array(process.stdout, array)
                               for array in self.about.get("arrays", [])}
        if process.returncode != 0:
            raise Failure(process.returncode if process.returncode > 0 else FAILED, "")
        self.read_s = time.monotonic() - begin

    def option(self, key):
        return self.about["options"][key]

    def number(self, key):
        return float(self.about["options"][key])

    def numbers(self, name, code):
        """Returns an array as Python numbers; `code`: type code of the array module."""
        return memoryview(self.arrays[name]).cast(code).tolist()


def read_array(pipe, array):
    values = bytearray(array["n"] * int(array["type"][1:]))
    room, done = memoryview(values), 0
    while done < len(values):
        got = pipe.readinto(room[done:])
        if not got:
            raise Failure(FAILED, f"peer_inputs ended within array '{array['name']}'")
        done += got
    return values
