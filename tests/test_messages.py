"""Messages: told in any language, stored untranslated."""

from __future__ import annotations

import pickle

from rag.errors import ParsingError, PasswordNeeded
from rag.messages import Message, msg


def test_a_message_is_translated_before_its_values_are_put_in() -> None:
    russian = {"{n} pages": "{n} страниц"}
    assert msg("{n} pages", n=5).text(lambda t: russian.get(t, t)) == "5 страниц"


def test_a_message_inside_a_message_is_translated_too() -> None:
    outer = msg("Failed: {reason}", reason=msg("no disk"))
    assert outer.text(lambda t: t.replace("no disk", "нет диска")) == "Failed: нет диска"


def test_a_message_survives_being_stored() -> None:
    message = msg("Failed: {reason} at {n}", reason=msg("no disk"), n=3)
    assert Message.from_json(message.to_json()) == message


def test_braces_in_values_are_left_alone() -> None:
    assert str(msg("{text}", text="{x}")) == "{x}"


def test_an_error_crosses_processes_with_its_message() -> None:
    error = pickle.loads(pickle.dumps(PasswordNeeded(msg("{file} is locked", file="a.pdf"))))
    assert isinstance(error, ParsingError)
    assert (str(error), error.message.params) == ("a.pdf is locked", {"file": "a.pdf"})
