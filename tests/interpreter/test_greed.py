"""Operations that would ask for more than there is are refused before they cost anything, with the name of the limit and its option."""

import json
import subprocess
import sys

import pytest

ELEMENTS, WORK = "--max-tensor-elements", "--max-work"

GREEDY = [
    ("ones(1).expand(10**10).sum()", ELEMENTS),
    ("ones(1).expand(10**12).clone()", ELEMENTS),
    ("ones(1).as_strided((10**6, 10**6), (0, 0))", ELEMENTS),
    ("ones(10**7).unfold(0, 10**6, 1)", ELEMENTS),
    ("stack([ones(10**6)] * 1000)", ELEMENTS),
    ("cat([ones(10**6)] * 1000)", ELEMENTS),
    ("torch.block_diag(ones(10**6, 1), ones(1, 10**6))", ELEMENTS),
    ("ones(1).repeat_interleave(10**12)", ELEMENTS),
    ("ones(2).repeat_interleave(torch.tensor([10**12, 1]))", ELEMENTS),
    ("torch.cartesian_prod(ones(10**5), ones(10**5), ones(10**5), ones(10**5))", ELEMENTS),
    ("torch.combinations(ones(10**4), 10)", ELEMENTS),
    ("torch.combinations(ones(50), 25)", ELEMENTS),
    ("torch.polygamma(10**9, ones(3))", "above 170! are infinite"),
    ("torch.mvlgamma(ones(3) + 10**10, 10**9)", WORK),
    ("torch.linalg.inv(ones(1).expand(5000, 5000))", WORK),
    ("torch.linalg.det(ones(1).expand(5000, 5000))", WORK),
    ("torch.slogdet(ones(1).expand(5000, 5000))", WORK),
    ("torch.linalg.solve(ones(1).expand(5000, 5000), ones(5000))", WORK),
    ("torch.linalg.cholesky(ones(1).expand(5000, 5000))", WORK),
    ("torch.linalg.qr(ones(1).expand(5000, 5000))", WORK),
    ("torch.linalg.eigh(ones(1).expand(5000, 5000))", WORK),
    ("torch.linalg.svd(ones(1).expand(5000, 5000))", WORK),
    ("torch.linalg.pinv(ones(1).expand(5000, 5000))", WORK),
    ("torch.linalg.lu(ones(1).expand(5000, 5000))", WORK),
    ("torch.linalg.matrix_exp(ones(1).expand(5000, 5000))", WORK),
    ("torch.linalg.matrix_power(eye(2000), 10**9)", WORK),
    ("torch.linalg.matrix_rank(ones(1).expand(5000, 5000))", WORK),
    ("ones(1).expand(5000, 5000) @ ones(1).expand(5000, 5000)", WORK),
    ("torch.bmm(ones(100, 1000, 1000), ones(100, 1000, 1000))", ELEMENTS),
    ("torch.einsum('abc,def->abcdef', ones(99, 99, 99), ones(99, 99, 99))", ELEMENTS),
    ("torch.tensordot(ones(10**5), ones(10**5), dims=0)", ELEMENTS),
    ("torch.kron(ones(3000, 3000), ones(3000, 3000))", ELEMENTS),
    ("torch.outer(ones(10**5), ones(10**5))", ELEMENTS),
    ("conv1d(ones(1, 1, 10**5), ones(1, 1, 10**5), padding=10**5)", WORK),
    ("conv1d(ones(1, 1, 4), ones(1, 1, 1), padding=10**9, stride=10**9)", ELEMENTS),
    ("torch.nn.functional.conv_transpose1d(ones(1, 1, 3), ones(1, 1, 3), stride=10**10)", ELEMENTS),
    ("torch.nn.functional.pad(ones(3), (10**12, 0))", ELEMENTS),
    ("torch.nn.functional.one_hot(torch.tensor(0), 10**12)", ELEMENTS),
    ("torch.bincount(torch.tensor([10**12]))", ELEMENTS),
    ("arange(10**12)", ELEMENTS),
    ("arange(0, 1, 1e-12)", ELEMENTS),
    ("linspace(0, 1, 10**12)", ELEMENTS),
    ("torch.logspace(0, 1, 10**12)", ELEMENTS),
    ("torch.vander(ones(10**4), 10**7)", ELEMENTS),
    ("torch.tensor(1.0).repeat(10**12)", ELEMENTS),
    ("ones(10).tile((10**12,))", ELEMENTS),
    ("torch.diag(ones(10**6))", ELEMENTS),
    ("torch.cdist(ones(10**5, 3), ones(10**5, 3))", ELEMENTS),
    ("torch.nn.functional.pdist(ones(10**5, 3))", ELEMENTS),
    ("torch.nn.functional.interpolate(ones(1, 1, 3), size=10**12)", ELEMENTS),
    ("torch.nn.functional.avg_pool1d(ones(1, 1, 10**6), 10**5, stride=1)", ELEMENTS),
    ("torch.nn.functional.max_pool1d(ones(1, 1, 10**6), 10**5, stride=1)", ELEMENTS),
    ("torch.nn.functional.max_pool2d(ones(1).expand(1, 1, 3000, 3000), 1500, stride=1)", WORK),
    ("torch.nn.functional.adaptive_avg_pool1d(ones(1, 1, 10), 10**12)", ELEMENTS),
    ("torch.fft.fft(ones(3), n=10**12)", ELEMENTS),
    ("torch.nn.functional.scaled_dot_product_attention(*[ones(1, 10**5, 2)] * 3)", ELEMENTS),
    ("torch.cov(ones(10**5, 2))", ELEMENTS),
    ("torch.zeros(3).new_zeros(10**12)", ELEMENTS),
    ("torch.randperm(10**12)", ELEMENTS),
]

HARMLESS = [
    "torch.linalg.matrix_power(eye(2), 10**100)", "torch.diff(ones(10), n=10**9)", "torch.roll(ones(10), 10**18)",
    "torch.round(ones(3), decimals=10**15)", "torch.rot90(ones(3, 3), 10**18)", "torch.linalg.inv(eye(100))",
    "torch.einsum('ab,cd,ef->', ones(300, 300), ones(300, 300), ones(300, 300))",
]  # fmt: skip

CHILD = """
import json, sys, time
from gradcli.interpreter import run_file
from gradcli.interpreter.limits import Limits
from gradcli.syntax import Source
for text in json.load(sys.stdin):
    began = time.process_time()
    error = run_file(Source("f", "import torch\\nx = " + text), limits=Limits(seconds=30)).error
    print(json.dumps([error and f"{error.type}: {error.message}", time.process_time() - began]), flush=True)
"""

MEMORY = 4 << 30
SECONDS = 2.0
"""CPU time that a refusal may take: the arguments of some are large themselves."""


@pytest.fixture(scope="module")
def outcomes():
    """What became of each program in a process of its own, whose memory is bounded."""
    texts = [text for text, _ in GREEDY] + HARMLESS

    def bounded() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    done = subprocess.run(
        [sys.executable, "-c", CHILD], input=json.dumps(texts), capture_output=True, text=True, timeout=300, preexec_fn=bounded, check=True
    )
    return dict(zip(texts, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize(("text", "word"), GREEDY)
def test_greed_is_refused_before_it_costs(outcomes, text, word):
    message, seconds = outcomes[text]
    assert message is not None, "it was let through"
    assert word in message
    assert seconds < SECONDS


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_greedy_is_let_through(outcomes, text):
    message, seconds = outcomes[text]
    assert message is None
    assert seconds < SECONDS
