"""llm.c's CPU trainer as a peer: built from a checkout into a folder of its own, with random weights and tokens in its own formats."""
import array, os, pathlib, random, re, shutil, subprocess

import measure

REPOSITORY = "https://github.com/karpathy/llm.c"
BATCH, SEQUENCE = 4, 64  # written in its main()
LAYERS, HEADS, HIDDEN, VOCABULARY, PADDED, POSITIONS = 12, 12, 768, 50257, 50304, 1024
LAST_STEP = 18  # at 20 it stops training to generate text
STEP = re.compile(r"step (\d+): train loss ([-+.\w]+) \(took ([.\d]+) ms\)")


def header(*values):
    return array.array("i", [*values, *[0] * (256 - len(values))])


def write_checkpoint(path):
    """Version 3: 256 integers, then fp32 tensors. Weights of deviation 0.02 from a million random numbers, again and again."""
    rng = random.Random(1)
    noise = array.array("f", (rng.gauss(0, 0.02) for _ in range(1_000_003)))
    tensors = [(PADDED * HIDDEN, None), (POSITIONS * HIDDEN, None)]
    for out, inputs in ((0, 0), (3 * HIDDEN, HIDDEN), (HIDDEN, HIDDEN), (0, 0), (4 * HIDDEN, HIDDEN), (HIDDEN, 4 * HIDDEN)):
        if out == 0:
            tensors += [(LAYERS * HIDDEN, 1.0), (LAYERS * HIDDEN, 0.0)]  # a layer norm
        else:
            tensors += [(LAYERS * out * inputs, None), (LAYERS * out, 0.0)]
    tensors += [(HIDDEN, 1.0), (HIDDEN, 0.0)]
    with open(path, "wb") as file:
        header(20240326, 3, POSITIONS, VOCABULARY, LAYERS, HEADS, HIDDEN, PADDED).tofile(file)
        for count, constant in tensors:
            if constant is not None:
                array.array("f", [constant] * count).tofile(file)
                continue
            for begin in range(0, count, len(noise)):
                noise[: count - begin].tofile(file)


def write_tokens(path, count):
    rng = random.Random(2)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        header(20240520, 1, count).tofile(file)
        array.array("H", (rng.randrange(VOCABULARY) for _ in range(count))).tofile(file)


def prepare(checkout, folder):
    """Builds in `folder`; the checkout is only read. Returns its version. Raises OSError or CalledProcessError with what went wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    if checkout is None:
        checkout = folder.parent / "llm.c"
        if not (checkout / "train_gpt2.c").exists():
            run("git", "clone", "--quiet", "--depth", "1", REPOSITORY, str(checkout))
    version = run("git", "-C", str(checkout), "rev-parse", "--short=7", "HEAD").strip()
    shutil.copytree(checkout, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git", "doc"))
    try:
        run("make", "-C", str(folder), "train_gpt2", "CC=" + os.environ.get("CC", "gcc"))
    except subprocess.CalledProcessError:
        run("gcc", "-O3", "-march=native", "-fopenmp", "-DOMP", "-o", str(folder / "train_gpt2"), str(folder / "train_gpt2.c"), "-lm")
    data = folder / "dev/data/tinyshakespeare"
    for name, write in (("gpt2_124M.bin", write_checkpoint), ("tiny_shakespeare_train.bin", lambda p: write_tokens(p, 32768)),
                        ("tiny_shakespeare_val.bin", lambda p: write_tokens(p, 32768))):
        path = folder / name if name.startswith("gpt2") else data / name
        if not path.exists():
            new = path.with_suffix(".new")
            new.parent.mkdir(parents=True, exist_ok=True)
            write(new)
            new.rename(path)
    return version


def run(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def train(folder, threads, seconds):
    """Its own times of its steps, from the third on, until `seconds` of them are there; then it is ended."""
    process = subprocess.Popen(["stdbuf", "-oL", str(pathlib.Path(folder) / "train_gpt2")], cwd=folder, text=True,
                               env={**os.environ, "OMP_NUM_THREADS": str(threads)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    times, said = [], []
    for line in process.stdout:
        said.append(line)
        if not (match := STEP.search(line)):
            continue
        if int(match[1]) >= 2:
            times.append(float(match[3]) / 1000)
        if int(match[1]) == LAST_STEP or (len(times) >= 4 and sum(times) >= seconds):
            break
    process.kill()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if len(times) < 4:
        raise RuntimeError(f"llm.c ended after {len(times)} timed steps: {''.join(said[-3:]).strip()}")
    return {"peak_rss_bytes": 1024 * usage.ru_maxrss, **measure.summary(BATCH * SEQUENCE, times)}
