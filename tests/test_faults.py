"""What is wrong with a settings file is said all at once, and never shows a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from pipelines.errors import BadSettings, fault_line, faults_of, read_toml, shown

if TYPE_CHECKING:
    from pathlib import Path


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


@pytest.mark.parametrize(("inner", "shown"), [([{"name": "a"}], "{…}"), (3, "3"), ("a", '"a"')])
def test_what_should_be_a_table_is_told_as_tables_are_written(inner: object, shown: str) -> None:
    assert faults({"inner": inner}) == [f"inner = {shown}: it should be one table, [inner]"]


def test_every_fault_is_named_with_key_and_value() -> None:
    found = faults({"inner": {"max_tokens": -3}, "order": ["a", 7], "cap": 9, "colour": "red"})
    assert found == [
        "inner.max_tokens = -3: it should be greater than 0",
        "inner.name: this key is missing",
        "order[1] = 7: it should be a valid string",
        "cap = 9: only even caps are allowed here",
        'colour = "red": there is no such key',
    ]


def test_the_value_of_a_secret_is_never_shown() -> None:
    secret = "hunter" + "2"
    found = faults(
        {"inner": {"name": "x", "api_key": [secret]}, "token": secret, "other": {"password": secret}, "keys": [secret]}
    )
    assert len(found) == 4
    assert secret not in "\n".join(found)


@pytest.mark.parametrize("key", ["api_key", "inner.api_key", "smtp.password", "tokens[0]", "X-Auth", "client_secret"])
def test_keys_that_look_like_secrets_hide_their_value(key: str) -> None:
    assert shown(key, "plain") == "(not shown)"


@pytest.mark.parametrize("key", ["max_tokens", "anthropic.max_tokens", "api_key_env", "author", "monkey", "keyboard"])
def test_keys_that_only_resemble_secrets_show_it(key: str) -> None:
    assert shown(key, "plain") == '"plain"'


@pytest.mark.parametrize(
    "value",
    ["sk-ant-" + "api03-abcdef", "AIza" + "SyD4x8Qw", "ghp_" + "a1b2c3d4", "9f86d081884c7d659a2feaa0c55ad015"],
)
def test_values_that_look_like_secrets_are_hidden_under_any_key(value: str) -> None:
    assert shown("api_key_env", value) == "(not shown)"
    assert shown("order", [value]) == "(not shown)"


def test_a_key_pasted_where_the_name_of_a_variable_belongs_is_hidden() -> None:
    assert shown("gemini.api_key_env", "q7-Jf-93") == "(not shown)"
    assert shown("gemini.api_key_env", "MY_KEY") == '"MY_KEY"'


def test_a_list_of_tables_shows_none_of_their_values() -> None:
    assert "plainhorse77" not in shown("gemini", [{"api_key": "plainhorse77"}])


def test_the_password_in_an_address_is_hidden() -> None:
    assert shown("base_url", "https://mara:pw@proxy.example/v1") == '"https://…@proxy.example/v1"'


def test_a_long_value_is_shortened_and_a_line_stays_one_line() -> None:
    assert len(fault_line("k", "x y " * 100, "too long")) < 120
    assert "\n" not in fault_line("a\nb", "c\nd", "e\nf")


def test_a_file_that_is_not_there_has_no_tables(tmp_path: Path) -> None:
    assert read_toml(tmp_path / "none.toml") == {}


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"a = \n", "it is not TOML"), (b"a = '\xff'\n", "it is not UTF-8 text (byte 5)")],
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
