"""Words that Streamlit's own widgets say in English only: replaced by ours, in the person's language."""

from __future__ import annotations

from pages.ui.language import _

_LOST = '[role="dialog"]:not(:has([data-testid]))'  # all our own dialogs hold elements with such names
_DATE = '[data-testid="stDateInputField"]'
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
        _say(f"{_DATE} [data-type=day][data-placeholder]", _("dd")),
        _say(f"{_DATE} [data-type=month][data-placeholder]", _("mm")),
        _say(f"{_DATE} [data-type=year][data-placeholder]", _("yyyy")),
        _say(f"{_LOST} h2", _("Konspekt is not running"), "1.3rem"),
        _say(
            f"{_LOST} > div > div",
            _("Start it again as you did before: this page then goes on by itself."),
        ),
    ]
    return "".join(rules)


def _say(selector: str, text: str, size: str = ".93rem") -> str:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return (
        f'{selector} {{ font-size: 0 !important; }} {selector}::after {{ content: "{quoted}"; font-size: {size}; }}\n'
    )
