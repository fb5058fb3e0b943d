"""Texts for people, kept as template and values so that they can be told in any interface language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Message:
    """One sentence for the user: an English template in `str.format` style and its values.

    It is stored and passed on untranslated; whoever shows it passes a gettext function to `text`.
    """

    template: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def text(self, translate: Callable[[str], str] = str) -> str:
        """Return the sentence, its template translated first."""
        params = {k: v.text(translate) if isinstance(v, Message) else v for k, v in self.params.items()}
        return translate(self.template).format(**params)

    def __str__(self) -> str:
        return self.text()

    def to_json(self) -> dict[str, Any]:
        """Return a plain mapping that `from_json` reads back."""
        params = {k: v.to_json() if isinstance(v, Message) else v for k, v in self.params.items()}
        return {"template": self.template, "params": params}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Message:
        """Rebuild what `to_json` wrote."""
        params = {
            k: cls.from_json(v) if isinstance(v, Mapping) and "template" in v else v for k, v in data["params"].items()
        }
        return cls(data["template"], params)


def msg(template: str, /, **params: Any) -> Message:
    """Make a `Message`. The template is a literal, so that the catalogues' extractor finds it."""
    return Message(template, params)
