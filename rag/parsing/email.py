"""E-mail (.eml): subject as heading, sender and date, the text of the best alternative, names of attachments."""

from __future__ import annotations

from email import message_from_binary_file, policy
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from pathlib import Path

from rag.errors import ParsingError
from rag.messages import msg
from rag.parsing.draft import Draft
from rag.parsing.encodings import decode
from rag.parsing.properties import make_meta
from rag.parsing.text import text_blocks


def parse_email(path: Path) -> Draft:
    """Read one message, with those forwarded inside it. Attachments are named, not read."""
    with path.open("rb") as file:
        message = message_from_binary_file(file, policy=policy.default)
    if not message.keys() or not isinstance(message, EmailMessage):
        raise ParsingError(msg("This is not an e-mail message. Save it from the mail program as .eml."))
    draft = Draft()
    _message(message, draft, 1)
    try:
        date = parsedate_to_datetime(str(message["date"])).date().isoformat() if message["date"] else ""
    except ValueError:
        date = ""
    draft.meta = make_meta(_header(message, "subject"), _header(message, "from"), date)
    return draft


def _message(message: EmailMessage, draft: Draft, level: int) -> None:
    draft.heading(_header(message, "subject"), level)
    lines = [f"{name}: {value}" for name in ("From", "To", "Cc", "Date") if (value := _header(message, name))]
    draft.add("\n".join(lines))
    body = message.get_body(preferencelist=("plain", "html"))
    if body is not None and isinstance(body, EmailMessage):
        _body(body, draft)
    for part in message.iter_attachments():
        if part.get_content_type() == "message/rfc822" and isinstance(inner := part.get_content(), EmailMessage):
            _message(inner, draft, level + 1)
        elif name := part.get_filename():
            draft.add(name, "note")
            draft.warn(msg("The attachment {name} is not read. Save it into the notes folder to search it.", name=name))


def _body(body: EmailMessage, draft: Draft) -> None:
    data = body.get_payload(decode=True)
    found = decode(data if isinstance(data, bytes) else b"", body.get_content_charset() or "")
    draft.encoding = draft.encoding or found.encoding
    if body.get_content_type() == "text/html":
        from rag.parsing.web import html_blocks

        html_blocks(found.text, draft)
    else:
        text_blocks(found.text, draft)


def _header(message: EmailMessage, name: str) -> str:
    """A header's text. Old mail programs wrote letters as they were, without saying in what encoding."""
    raw = next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), "")
    try:
        text = str(message[name] or "")
    except (ValueError, IndexError, AttributeError, TypeError):
        text = raw  # the standard library's own parser of addresses stumbles over some
    if any("\udc80" <= char <= "\udcff" for char in raw):
        text = decode(raw.encode("utf-8", "surrogateescape")).text
    return " ".join(text.split())
