"""Words that Streamlit's own widgets say in English only: replaced by ours, in the person's language."""

from __future__ import annotations

from pages.ui.language import _

_DROP = '[data-testid="stFileUploaderDropzone"]'


def own_words() -> str:
    """Return CSS rules that put our words where a widget offers no way to change its own."""
    rules = [
        _say(f'[class*="-files"] {_DROP} button p', _("Choose files")),
        _say(f'[class*="-folder"] {_DROP} button p', _("or choose a whole folder")),
        _say(
            f'[class*="-files"] {_DROP} [data-testid="stFileUploaderDropzoneInstructions"] span',
            _("Drop files and folders here"),
        ),
        _say(f"{_DROP} > div:not([data-testid]) > span", _("Let go to add them")),
    ]
    return "".join(rules)


def _say(selector: str, text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return (
        f'{selector} {{ font-size: 0 !important; }} {selector}::after {{ content: "{quoted}"; font-size: .93rem; }}\n'
    )
