"""What is wrong with a settings file is said all at once, and never shows a secret."""

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from pipelines.errors import BadSettings, faults_of, read_toml


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    max_tokens: Annotated[int, Field(gt=0)] = 1
    api_key: str = ""
    name: str


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    inner: Inner | None = None
    order: list[str] = []
    cap: int = 8192

    @field_validator("cap")
    @classmethod
    def even(cls, value: int) -> int:
        if value % 2:
            message = "only even caps are allowed here"
            raise ValueError(message)
        return value


def faults(raw: dict[str, object]) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(raw)
    return faults_of(caught.value)


@pytest.mark.parametrize("inner", [[{"name": "a"}], 3, "a"])
def test_what_should_be_a_table_is_told_as_tables_are_written(inner: object) -> None:
    assert faults({"inner": inner}) == ["inner: it should be one table, [inner]"]


def test_every_fault_is_named_with_its_key_and_without_its_value() -> None:
    found = faults({"inner": {"max_tokens": -3}, "order": ["a", 7], "cap": 9, "colour": "red"})
    assert found == [
        "inner.max_tokens: it should be greater than 0",
        "inner.name: this key is missing",
        "order[1]: it should be a valid string",
        "cap: only even caps are allowed here",
        "colour: there is no such key",
    ]


def test_a_file_that_is_not_there_has_no_tables(tmp_path: Path) -> None:
    assert read_toml(tmp_path / "none.toml") == {}


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"a = \n", "it is not TOML"), (b"a = '\xff'\n", "it is not TOML")],
)
def test_a_file_that_cannot_be_read_is_one_fault(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(content)
    with pytest.raises(BadSettings, match=r"config\.toml") as caught:
        read_toml(path)
    assert caught.value.faults[0].startswith(why)


def test_a_folder_in_its_place_is_one_fault(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="it cannot be read"):
        read_toml(tmp_path)


@pytest.mark.parametrize("text", ["a = " + "[" * 3000, "a = " + "1" * 5000, 'a = "\\ud800"'])
def test_toml_that_cannot_be_read_is_a_fault_of_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "curate.toml").write_text(text)
    with pytest.raises(BadSettings):
        read_toml(tmp_path / "curate.toml")
