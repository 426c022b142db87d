"""The container: no root, no secret, a pinned base, signals that arrive; built where a builder answers."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "Containerfile"
COMPOSE = ROOT / "deploy" / "compose.yaml"


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n", " ", FILE.read_text())
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split()[0], line.partition(" ")[2]) for line in lines]


def values(name: str) -> list[str]:
    return [value for instruction, value in instructions() if instruction == name]


def copied() -> list[list[str]]:
    """Return what comes from the project: the sources of each COPY, then its target."""
    return [value.split() for value in values("COPY") if not value.startswith("--from=")]


def test_the_base_is_pinned_to_a_whole_version() -> None:
    assert all(re.search(r":\d+\.\d+\.\d+-|@sha256:[0-9a-f]{64}$", value) for value in values("FROM"))


def test_it_runs_as_nobody_special() -> None:
    assert values("USER")[-1] not in {"root", "0"}
    names = [name for name, _ in instructions()]
    last_run = max(at for at, name in enumerate(names) if name == "RUN")
    assert names.index("USER") > last_run


def test_what_runs_is_the_daemon_itself_and_no_shell_before_it() -> None:
    assert [json.loads(value) for value in values("CMD")] == [["curate", "schedule"]]
    assert values("ENTRYPOINT") == []
    assert values("STOPSIGNAL") == ["SIGTERM"]
    assert json.loads(values("HEALTHCHECK")[0].partition("CMD ")[2]) == ["curate", "status"]


def test_no_secret_is_in_it() -> None:
    told = "\n".join(value for name, value in instructions() if name in {"ENV", "ARG"})
    assert not re.search(r"(?i)key|token|secret|password", told)
    assert not re.search(r"(?i)(key|token|secret|password)\w*[=:][ ]*[\"']?\w", COMPOSE.read_text())


def test_all_that_is_copied_is_there_and_sent_to_the_builder() -> None:
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for *sources, _ in copied():
        for source in sources:
            assert (ROOT / source).exists(), source
            assert source.split("/")[0] in sent, source


def test_nothing_is_installed_without_a_hash() -> None:
    parts = [part for value in values("RUN") for part in value.split("&&")]
    installs = [part for part in parts if "pip install" in part]
    assert len(installs) == 3
    assert all("--require-hashes" in part or "--no-deps --no-index" in part for part in installs)
    [build] = [part for part in parts if "-m build" in part]
    assert "--no-isolation" in build  # an isolated build fetches its backend by name alone


def test_only_the_installed_program_reaches_the_image() -> None:
    names = [name for name, _ in instructions()]
    last = len(names) - names[::-1].index("FROM")
    assert [value for name, value in instructions()[last:] if name in {"COPY", "ADD"}] == [
        "--from=build /opt/memcurate /opt/memcurate"
    ]


def test_compose_gives_it_no_more_than_the_memory() -> None:
    yaml = pytest.importorskip("yaml")
    service = yaml.safe_load(COMPOSE.read_text())["services"]["memcurate"]
    assert (COMPOSE.parent / service["build"]["context"] / service["build"]["dockerfile"]).resolve() == FILE
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert not {"privileged", "network_mode", "pid", "user"} & service.keys()
    assert all("=" not in variable for variable in service["environment"])
    assert [volume.rpartition(":/")[2] for volume in service["volumes"]] == [
        "memory",
        "home/curate/.config/memcurate:ro",
        "home/curate/.cache/memcurate",
    ]
