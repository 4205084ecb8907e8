"""The container image and how it is published: what can be read without an engine."""

import os
import re
import runpy
from pathlib import Path
from typing import Any

import yaml

from cardan.service.settings import Settings
from tests.architecture.sources import ROOT, text_of

DOCKERFILE = text_of(Path("Dockerfile"))
STEPS: dict[str, Any] = runpy.run_path(str(ROOT / ".ci" / "image_steps.py"))
INSTRUCTIONS: list[tuple[str, str]] = STEPS["instructions"](DOCKERFILE)


def rests(word: str) -> list[str]:
    """What follows each instruction of this kind."""
    return [rest for name, rest in INSTRUCTIONS if name == word]


def test_the_processor_is_named_with_its_features() -> None:
    named = [rest for rest in rests("ENV") if "NUMBA_CPU" in rest]
    assert len(named) == 2
    assert all("NUMBA_CPU_NAME=" in rest and "NUMBA_CPU_FEATURES=" in rest for rest in named)


def test_every_stage_takes_a_base_with_a_named_processor() -> None:
    stages = [rest.partition(" AS ") for rest in rests("FROM")]
    names = {name for _, _, name in stages}
    outside = [base for base, _, _ in stages if "TARGETARCH" not in base and base not in names]
    assert outside == ["python:3.11-slim"] * 2


def test_the_service_has_no_root_rights() -> None:
    words = [word for word, _ in INSTRUCTIONS]
    last_user = len(words) - 1 - words[::-1].index("USER")
    assert int(INSTRUCTIONS[last_user][1]) >= 1000
    assert last_user < words.index("CMD")


def test_packages_come_from_the_lock() -> None:
    installs = [rest for rest in rests("RUN") if "pip install" in rest]
    assert installs
    assert all("--require-hashes" in rest or "--no-index" in rest for rest in installs)


def test_the_image_builds_the_manual_where_the_service_looks_for_it() -> None:
    built = next(rest for rest in rests("RUN") if "docs.manual" in rest)
    copied = next(rest.split() for rest in rests("COPY") if "--from=manual" in rest)
    assert built.endswith(copied[1])
    # as `files("cardan") / "manual"` in service/page.py, with the Python of the base
    version = re.search(r"^FROM python:(3\.\d+)-", DOCKERFILE, re.MULTILINE)
    assert version is not None
    packages = f"/opt/cardan/venv/lib/python{version[1]}/site-packages"
    assert copied[2] == f"{packages}/cardan/manual"


def test_compose_publishes_on_this_machine_only_and_wants_a_key() -> None:
    service = yaml.safe_load(text_of(Path("docker-compose.yml")))["services"]["cardan"]
    assert service["ports"]
    assert all(str(port).startswith("127.0.0.1:") for port in service["ports"])
    assert re.match(r"^\$\{CARDAN_API_KEY:\?", service["environment"]["CARDAN_API_KEY"])
    volumes = yaml.safe_load(text_of(Path("docker-compose.yml")))["volumes"]
    assert all(str(volume).partition(":")[0] in volumes for volume in service["volumes"])


def test_the_build_context_holds_what_is_installed_and_nothing_else() -> None:
    sent = {path.relative_to(ROOT).as_posix() for path in STEPS["allowed"](ROOT, ".")}
    needed = {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "requirements-cluster.lock",
        "requirements-manual.lock",
        "docs/manual/mkdocs.yml",
        "docs/manual/fonts/stix-two-math.woff2",
        "web/index.html",
    }
    assert needed <= sent
    assert {"schemas/scene.py", "engine/__init__.py", "service/app.py"} <= sent
    strangers = ("tests/", "node_modules", "__pycache__", ".git/", "benchmarks/")
    assert [name for name in sent if any(part in name for part in strangers)] == []


def test_scripts_can_be_executed() -> None:
    scripts = [ROOT / ".ci" / name for name in ("run", "browser", "image_lint")]
    assert all(os.access(script, os.X_OK) for script in scripts)


def test_nodes_of_the_manifest_are_what_the_service_expects() -> None:
    manifest = text_of(Path("docs/kuberay.yaml"))
    cluster, service, _ = yaml.safe_load_all(manifest)
    assert (cluster["apiVersion"], cluster["kind"]) == ("ray.io/v1", "RayCluster")
    assert f"ray=={cluster['spec']['rayVersion']} " in text_of(Path("requirements-cluster.lock"))
    groups = cluster["spec"]["workerGroupSpecs"]
    for group in groups:
        (container,) = group["template"]["spec"]["containers"]
        # an actor counts on a whole core
        assert group["rayStartParams"]["num-cpus"] == container["resources"]["requests"]["cpu"]
    for group in [*groups, cluster["spec"]["headGroupSpec"]]:
        (container,) = group["template"]["spec"]["containers"]
        assert {"name": "RAY_AUTH_MODE", "value": "token"} in container["env"]
    (container,) = service["spec"]["template"]["spec"]["containers"]
    given = {one["name"]: one["value"] for one in container["env"]}
    settings = Settings.from_environment(given)
    assert settings.executor == "ray"
    name = cluster["metadata"]["name"]
    assert settings.ray_address == f"ray://{name}-head-svc:10001"


def test_compose_gives_nodes_of_ray_the_token_of_the_service_and_nothing_of_its_keys() -> None:
    services = yaml.safe_load(text_of(Path("docker-compose.yml")))["services"]
    placing = services["placing"]["environment"]
    key = {"CARDAN_API_KEY": "operator-of-sixteen-or-more"}
    Settings.from_environment(placing | key).check_executor()
    for name in ("head", "node"):
        node = services[name]["environment"]
        assert node["RAY_AUTH_TOKEN"] == placing["CARDAN_RAY_TOKEN"]
        assert not [key for key in node if key.startswith(("CARDAN_", "AWS_"))]
        assert "ports" not in services[name]
