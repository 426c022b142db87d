"""The container is built, where a builder answers."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "Containerfile"


def builder() -> str:
    """Return a builder that answers, or an empty string: a client without its daemon builds nothing."""
    for name in ("podman", "docker"):
        if shutil.which(name) and not subprocess.run([name, "info"], capture_output=True, check=False).returncode:
            return name
    return ""


@pytest.mark.torture
def test_it_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")  # images come by TLS
    program = builder()
    if not program:
        pytest.skip("no builder of containers answers here")
    subprocess.run([program, "build", "-f", str(FILE), "-t", "memcurate-test", str(ROOT)], check=True)
