"""The wheel: installed in a fresh environment outside the checkout, the command does its whole job."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel built from the checkout."""
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(CHECKOUT)]
    subprocess.run(build, check=True, capture_output=True)
    return next(out.glob("memcurate-*.whl"))


@pytest.fixture(scope="module")
def curate(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the command, installed from the wheel into an environment of its own.

    The dependencies come from the environment that runs the tests, by path: a `.pth` file is not followed a second
    time, so the checkout itself, which is installed there in editable form, is out of reach.
    """
    home = tmp_path_factory.mktemp("fresh")
    venv.create(home, with_pip=False)
    site = next(home.glob("lib/python*/site-packages"))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), "install", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--quiet", str(wheel)], check=True, capture_output=True)
    return home / "bin" / "curate"


def test_the_wheel_holds_what_the_command_reads(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    for name in (
        "prompts/extract.md.j2",
        "memory_template/AGENTS.md",
        "memory_template/gitignore",
        "deploy/claude-code/.claude-plugin/plugin.json",
        "deploy/claude-code/.mcp.json",
        "deploy/claude-code/scripts/curate.sh",
        "deploy/claude-code/skills/recall/SKILL.md",
    ):
        assert f"pipelines/_data/{name}" in names
    assert "pipelines/_data/examples/sample_week/Logs/2026-03-09.md" in names
    assert "memcurate/py.typed" in names
    assert "pipelines/templates/document.md.j2" in names
    assert "pipelines/py.typed" in names
    assert not [name for name in names if "fleet" in name], "it is a package of its own"
    assert "pipelines/prices.toml" in names
    assert not [name for name in names if name.startswith(("tests/", "examples/", "deploy/"))]


def test_the_installed_command_does_its_whole_job(curate: Path, tmp_path: Path) -> None:
    memory = tmp_path / "memory"

    def run(*arguments: str) -> str:
        environment = {**os.environ, "CURATE_MEMORY": str(memory)}
        told = subprocess.run(
            [curate, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        return told.stdout

    where = subprocess.run(
        [curate.with_name("python"), "-c", "from memcurate import Memory; print(__import__('pipelines').__file__)"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert str(CHECKOUT) not in where
    told = subprocess.run([curate.with_name("memcurate"), "demo"], cwd=tmp_path, capture_output=True, check=True).stdout
    assert b"31 items added" in told
    run("init", str(memory))
    run("log", "Decision: Use SQLite for the cache.", "--project", "Alpha", "--now", "2026-03-18T09:00")
    assert json.loads(run("run", "--json", "--now", "2026-03-19T02:00"))["items"]["added"] == 1
    [item] = json.loads(run("items", "--json"))
    assert (item["text"], item["document"]) == ("Use SQLite for the cache.", "Projects/alpha.md")
    hits = json.loads(run("search", "which cache", "--json"))["results"]
    assert any(hit["path"] == "Projects/alpha.md" for hit in hits)
    assert "Use SQLite" in run("context", "--now", "2026-03-18T12:00")
