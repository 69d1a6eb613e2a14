"""What `--help` shows of each command in use, below its options. The tests run every line."""

from __future__ import annotations

EXAMPLES = {
    "check": (
        ("gradcli check net.grad", "a table for one file"),
        ("gradcli check nets --quiet", "every *.grad file of a folder; says only what is wrong"),
        ("gradcli check net.grad --format concise", "a line for each finding, for editors"),
        ("gradcli check nets --report junit=gradients.xml --report html=gradients.html", "a table, and files for CI and for people"),
        ("gradcli check net.grad --output loss --wrt w --set w=0.5", "another gradient, at another point"),
        ("gradcli check net.grad --fail-on kink,unstable --rtol 1e-9", "stricter here, laxer there"),
        ("gradcli check nets -j 0 --timeout 60 --memory 1000 --cache", "many files, within limits, unchanged ones from the cache"),
        ("gradcli check net.grad --graph net.svg", "a picture, with the result on each node"),
    ),
    "grad": (
        ('gradcli grad -e "x**2 * sin(y)" --at x=1.5 --at y=0.2', "of a formula"),
        ("gradcli grad net.grad", "the last variable, by every leaf"),
        ("gradcli grad net.grad --output loss --wrt w --order 2", "a Hessian"),
    ),
    "backward": (
        ("gradcli backward net.grad", "every .grad after loss.backward()"),
        ("gradcli backward net.grad --grad-outputs 0.5 --format json", "weighted, for programs"),
    ),
    "run": (
        ("gradcli run net.grad", "what the file prints"),
        ("gradcli run net.grad --set w=0.5 --seed 3", "from another point"),
    ),
    "graph": (
        ("gradcli graph net.grad", "as text"),
        ("gradcli graph net.grad --out net.svg", "as a picture; also .html, .dot, .mmd, .json"),
        ("gradcli graph net.grad --format dot --values full", "for Graphviz, with every number"),
    ),
    "trace": (
        ("gradcli trace net.grad", "what each step of the backward pass sends on"),
        ("gradcli trace net.grad --output loss --format json", "in full, for programs"),
    ),
    "derive": (
        ("gradcli derive net.grad --wrt w", "a formula"),
        ("gradcli derive net.grad --latex", "for a paper"),
        ("gradcli derive net.grad --format json", "for programs"),
        ("gradcli derive net.grad --code numpy", "a function, run against autograd before it is printed"),
    ),
    "ops": (
        ("gradcli ops --match softmax", "what there is"),
        ("gradcli ops relu", "docstring, our rule, and the derivative as SymPy derives it"),
        ("gradcli ops --missing", "what there is not, and why"),
    ),
    "config": (
        ("gradcli config", "every option that holds here, and which file says so"),
        ("gradcli config net.grad --format json", "for one file, for programs"),
    ),
    "explain": (
        ("gradcli explain G002", "what a code means, and what to do"),
        ("gradcli explain language", "what a file may contain"),
        ("gradcli explain verdicts --format markdown", "the same for a wiki"),
    ),
    "schema": (("gradcli schema --out check.schema.json", "for those who read the JSON"),),
}


def epilog(command: str) -> str | None:
    """The examples of a command as its help shows them: each with a word on what it is good for."""
    found = EXAMPLES.get(command)
    if found is None:
        return None
    lines = [line for example, meaning in found for line in (f"  {example}", f"      {meaning}")]
    return "\b\nExamples:\n" + "\n".join(lines)
