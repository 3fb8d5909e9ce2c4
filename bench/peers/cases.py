"""What is measured against whom, as data: the cases, each peer's configurations, and what Ergometer should reach."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    """One way to run a peer."""
    name: str  # begins with the peer's name
    peer: str  # what has to be prepared for it: prepare.py
    program: str = ""  # in this folder
    flags: tuple = ()


RESNET_EAGER = Config("PyTorch eager, channels_last", "torch", "resnet50_torch.py", ("--channels-last",))
RESNET_COMPILE = Config("PyTorch compile, channels_last", "torch", "resnet50_torch.py", ("--channels-last", "--compile"))
TENSORFLOW = Config("TensorFlow", "tensorflow", "resnet50_tensorflow.py")
TENSORFLOW_JIT = Config("TensorFlow, XLA", "tensorflow", "resnet50_tensorflow.py", ("--jit",))
GPT_EAGER = Config("PyTorch eager", "torch", "gpt_torch.py")
GPT_COMPILE = Config("PyTorch compile", "torch", "gpt_torch.py", ("--compile",))
LLMC = Config("llm.c", "llmc")


@dataclass(frozen=True)
class Reach:
    """The ratio of our rate to that of the fastest configuration whose name begins with `against`."""
    against: str
    ratio: float
    or_limit: float = 0.0  # this share of the limit will do instead


@dataclass(frozen=True)
class Case:
    name: str
    workload: str  # a preset of ours
    batch: int
    precision: str
    configs: tuple
    reaches: tuple
    limit: float = 0.0  # wanted share of what bench/bounds.cpp allows; 0: shown only
    sequence: int = 0  # of GPT

    @property
    def title(self):
        if self.workload == "resnet50":
            return f"ResNet-50, batch {self.batch}, {self.precision}"
        return f"GPT 124 M, {self.batch} × {self.sequence}, {self.precision}"

    @property
    def unit(self):
        return "images/s" if self.workload == "resnet50" else "tokens/s"

    @property
    def settings(self):
        """For `ergometer run` and `bounds` alike."""
        keys = {"workload.global_batch": self.batch, "workload.precision": self.precision}
        if self.sequence:
            keys["workload.sequence"] = self.sequence
        return [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]

    @property
    def peer_arguments(self):
        sequence = ["--sequence", str(self.sequence)] if self.sequence else []
        return ["--batch", str(self.batch), "--precision", self.precision, *sequence]


MEMORY = 0.8  # of PyTorch's peak, at most

RESNET_TORCH = (RESNET_EAGER, RESNET_COMPILE)
GPT_TORCH = (GPT_EAGER, GPT_COMPILE)


def resnet(batch, precision, configs, reaches, limit=0.0):
    return Case(f"resnet50-{batch}-{precision}", "resnet50", batch, precision, configs, reaches, limit)


def gpt(batch, sequence, precision, configs, reaches, limit=0.0):
    return Case(f"gpt-{batch}x{sequence}-{precision}", "gpt-117m", batch, precision, configs, reaches, limit, sequence)


CASES = [
    resnet(32, "bf16", (*RESNET_TORCH, TENSORFLOW, TENSORFLOW_JIT), (Reach("PyTorch", 1.3), Reach("TensorFlow", 1.5)), 0.90),
    resnet(32, "fp32", (*RESNET_TORCH, TENSORFLOW, TENSORFLOW_JIT), (Reach("PyTorch", 1.2, 0.90), Reach("TensorFlow", 1.5)), 0.90),
    resnet(1, "bf16", RESNET_TORCH, (Reach("PyTorch", 1.25),)),
    resnet(4, "bf16", RESNET_TORCH, (Reach("PyTorch", 1.25),)),
    resnet(128, "bf16", RESNET_TORCH, (Reach("PyTorch", 1.25),)),
    gpt(4, 512, "bf16", GPT_TORCH, (Reach("PyTorch eager", 1.6), Reach("PyTorch compile", 1.25)), 0.85),
    gpt(4, 512, "fp32", GPT_TORCH, (Reach("PyTorch eager", 1.35), Reach("PyTorch compile", 1.2)), 0.85),
    gpt(1, 1024, "bf16", (GPT_COMPILE,), (Reach("PyTorch compile", 1.25),)),
    gpt(1, 4096, "bf16", (GPT_COMPILE,), (Reach("PyTorch compile", 1.25),)),
    gpt(4, 64, "fp32", (LLMC,), (Reach("llm.c", 4.0),)),
]
