"""Brings the peers: a virtual environment each for PyTorch and TensorFlow, llm.c built from its source. What cannot be had says why."""
import os, pathlib, subprocess, sys

import llmc

PACKAGES = {"torch": ["torch==2.15.0", "numpy"], "tensorflow": ["tensorflow-cpu==2.21.0"]}  # what the ratios are about
NAMES = {"torch": "PyTorch", "tensorflow": "TensorFlow", "llmc": "llm.c"}


class Missing(Exception):
    """A peer that cannot be had here, and why."""


def last_lines(text, count=3):
    return " / ".join(line.strip() for line in text.strip().splitlines()[-count:])


def has(python, module):
    find = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)"
    return python.exists() and subprocess.run([str(python), "-c", find]).returncode == 0


def python_of(peer, given, folder):
    """The interpreter that has `peer`: the given one, or that of a virtual environment made here."""
    python = given or folder / peer / "bin" / "python"
    if not given and not has(python, peer):
        print(f"installing {' '.join(PACKAGES[peer])} in {folder / peer}", file=sys.stderr)
        try:
            llmc.run(sys.executable, "-m", "venv", str(folder / peer))
            llmc.run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES[peer])
        except (OSError, subprocess.CalledProcessError) as error:
            raise Missing(f"cannot be installed: {last_lines(getattr(error, 'output', '') or str(error))}") from None
    if not has(python, peer):
        raise Missing(f"{python} has no {peer}")
    return pathlib.Path(os.path.abspath(python))


class Peers:
    """Prepares each peer when it is first asked for; the answer, good or bad, is kept."""

    def __init__(self, folder, given):
        self.folder, self.given, self.known = folder, given, {}

    def get(self, peer):
        if peer not in self.known:
            try:
                self.known[peer] = self.prepare(peer)
            except Missing as why:
                self.known[peer] = why
        if isinstance(self.known[peer], Missing):
            raise self.known[peer]
        return self.known[peer]

    def prepare(self, peer):
        if peer != "llmc":
            return python_of(peer, self.given[peer], self.folder)
        try:
            self.llmc_version = llmc.prepare(self.given[peer], self.folder / "llm.c-build")
        except (OSError, subprocess.CalledProcessError) as error:
            raise Missing(last_lines(getattr(error, "output", "") or "") or str(error)) from None
        return self.folder / "llm.c-build"
