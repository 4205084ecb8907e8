"""Kernels return numbers and small tuples: a struct of structs is copied word by word."""

import ast
from collections.abc import Iterator

from tests.architecture.sources import python_files, tree_of

KERNELS = {
    "kernel", "fast_kernel", "inlined_kernel", "fused_kernel", "shared_kernel", "unlocked_kernel",
}  # fmt: skip


def names_in(annotation: ast.expr | None) -> set[str]:
    """Names in an annotation."""
    if annotation is None:
        return set()
    return {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}


def is_decorated(node: ast.ClassDef | ast.FunctionDef, names: set[str]) -> bool:
    """Whether a class or function has one of the decorators."""
    return any(isinstance(one, ast.Name) and one.id in names for one in node.decorator_list)


def nodes() -> Iterator[ast.AST]:
    """All nodes of the engine's sources."""
    for path in python_files("engine"):
        yield from ast.walk(tree_of(path))


def structs() -> dict[str, set[str]]:
    """Names in the fields of every struct, by its own name."""
    found: dict[str, set[str]] = {}
    for node in nodes():
        if isinstance(node, ast.ClassDef) and is_decorated(node, {"struct"}):
            fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
            found[node.name] = set().union(*(names_in(field.annotation) for field in fields))
    return found


def returned() -> list[tuple[str, set[str]]]:
    """Every kernel, and the names in what it returns."""
    return [
        (node.name, names_in(node.returns))
        for node in nodes()
        if isinstance(node, ast.FunctionDef) and is_decorated(node, KERNELS)
    ]


def test_no_kernel_returns_a_struct_of_structs() -> None:
    found = structs()
    # scratch of a few arrays; `_proximal_newton` names parts of one
    small = {"Pivots", "ProximalNewtonScratch"}
    # what kernels return by this name are numbers of several worlds
    small |= {"Lanes"}
    nested = {name for name, inner in found.items() if inner & found.keys()} - small
    assert {"World", "Problem", "System"} <= nested
    returns = returned()
    assert len(returns) > 1000
    assert {name for name, names in returns if names & nested} == set()
