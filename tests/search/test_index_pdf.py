"""PDF files: their text by pages, and a reason for each that has none; none takes more than its time and memory."""

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pypdf
import pytest

from pipelines.search import pdf as reading
from pipelines.search.pdf import Pdf, read_pdf
from tests.search.pdfs import bomb, pdf, pdf_of


def read(folder: Path, data: bytes) -> Pdf:
    path = folder / "x.pdf"
    path.write_bytes(data)
    with path.open("rb") as file:
        file.read(10)  # whoever hashes it first leaves it anywhere
        return read_pdf(file)


def encrypted(password: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf("The quay.")))
    writer.encrypt(password, "owner", algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_pages_title_and_day(tmp_path: Path) -> None:
    data = pdf("The quay is\n40 m long.", "", "Two cranes.", title="Harbour\\nreport", date="20260318101112")
    assert read(tmp_path, data) == Pdf(
        ((1, "The quay is\n40 m long."), (3, "Two cranes.")), "Harbour report", "2026-03-18"
    )


def test_each_that_has_no_text_has_a_reason(tmp_path: Path) -> None:
    assert read(tmp_path, b"no pdf").reason == "is broken, or not a PDF"
    assert read(tmp_path, pdf("a")[:300]).reason == "is broken, or not a PDF"
    assert read(tmp_path, pdf("", "")).reason == "has no text; its pages may be pictures"
    assert read(tmp_path, encrypted("secret")).reason == "is encrypted"


def test_one_that_only_cannot_be_edited_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, encrypted("")).pages == ((1, "The quay."),)


def test_a_bomb_ends_in_time_and_what_stood_before_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SECONDS", 1)
    began = time.monotonic()
    good = b"BT /F1 12 Tf (Before it) Tj ET"
    found = read(tmp_path, pdf_of([good, b"BT /F1 12 Tf " + b"(a) Tj " * 900_000 + b"ET", good]))
    assert found.pages == ((1, "Before it"),)
    assert found.reason == "is indexed in part: up to page 1, because it takes more than 1 s to read"
    assert time.monotonic() - began < 30


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not limit memory")
def test_memory_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MEMORY", 40 * 1024 * 1024)
    assert read(tmp_path, pdf("a")).reason
    monkeypatch.setattr(reading, "MEMORY", 100 * 1024 * 1024)
    assert read(tmp_path, pdf("a")).pages
    assert read(tmp_path, bomb(60_000_000)).reason


def test_processor_time_is_limited() -> None:
    program = [sys.executable, "-m", "pipelines.search.pdf", "1", str(reading.MEMORY)]
    ended = subprocess.run(program, input=bomb(6_000_000), capture_output=True, check=False)
    assert ended.returncode == -signal.SIGXCPU


def test_a_process_that_hangs_without_working_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    program.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(program))
    monkeypatch.setattr(reading, "SECONDS", 0.1)
    assert read(tmp_path, pdf("a")).reason == "takes more than 0.1 s to read"


def test_one_broken_page_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    real = pypdf.PageObject.extract_text

    def extract(page: pypdf.PageObject) -> str:
        if page.page_number == 1:
            raise RecursionError
        return real(page)

    monkeypatch.setattr(pypdf.PageObject, "extract_text", extract)
    told = list(reading._read(pdf("one", "two", "three")))
    lines = "".join(f"{json.dumps(one)}\n" for one in told).encode()
    assert reading._told(lines, 0).pages == ((1, "one"), (3, "three"))


def test_what_lies_in_the_working_directory_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pypdf", "json", "pipelines"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert read(tmp_path, pdf("a")).pages == ((1, "a"),)
    assert not (tmp_path / "ran").exists()


def test_the_process_is_given_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\nenv > {tmp_path}/env\n", encoding="utf-8")
    program.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(program))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-nobody")
    assert read(tmp_path, pdf("a")).reason == "is broken, or not a PDF"
    assert "key-of-nobody" not in (tmp_path / "env").read_text(encoding="utf-8")
