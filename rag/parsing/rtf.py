"""RTF: paragraphs, headings by outline level or style, lists, tables and footnotes.

Read by our own reader: pandoc, which `unstructured` calls for it, garbles every Russian file (it knows code page 1252
only) and runs table rows together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag.errors import ParsingError
from rag.messages import msg
from rag.parsing.draft import BOLD_LEVEL, Draft, is_fake_heading, make_table
from rag.parsing.encodings import decode
from rag.parsing.numbering import depth_of
from rag.parsing.properties import make_meta
from rag.parsing.rtftokens import CHARSETS, SIGNS, SKIPPED, Token, tokens
from rag.parsing.scripts import lowered, raised

_PLACES = {
    "fonttbl", "stylesheet", "info", "title", "author", "creatim", "revtim", "footnote", "listtext", "pntext",
    "shptxt",
}  # fmt: skip
_OPTIONAL = {"shpinst", "shptxt", "listtext", "pntext"}
_DROPPED = {"header": "header", "headerl": "header", "headerr": "header", "headerf": "header", "footer": "footer",
            "footerl": "footer", "footerr": "footer", "footerf": "footer", "annotation": "comment"}  # fmt: skip
_HEADING = re.compile(r"(?:heading|заголовок)\s*([1-9])", re.IGNORECASE)
_PAGES = {"ansi": "cp1252", "mac": "mac-roman", "pc": "cp437", "pca": "cp850"}


def parse_rtf(path: Path) -> Draft:
    """Read an .rtf, also one that is named .doc."""
    found = list(tokens(path.read_bytes()))
    reader = _Reader(_likely_codec(found))
    for token in found:
        reader.take(token)
    return reader.finish()


def _likely_codec(found: list[Token]) -> str:
    """The code page that the text's bytes look like: many Russian files declare none, or the western one."""
    decoded = decode(b" ".join(token.data for token in found if token.kind == "bytes"))
    return "" if decoded.doubtful or decoded.encoding.startswith("utf") else decoded.encoding


@dataclass(frozen=True, slots=True)
class _State:
    """What a group inherits. `place` is the destination that its text goes to, "" for the body."""

    place: str = ""
    font: int = -1
    after_unicode: int = 1
    bold: bool = False
    hidden: bool = False
    script: str = ""
    level: int = 0
    in_table: bool = False
    depth: int = 0
    style: int = 0


@dataclass
class _Line:
    """A paragraph in the making."""

    text: str = ""
    label: str = ""
    bold: bool = True
    notes: list[tuple[int, str]] = field(default_factory=list)


class _Reader:
    """A machine fed with tokens. A group's end restores the state that was before it."""

    def __init__(self, likely: str) -> None:
        self.likely, self.codec = likely, likely or "cp1252"
        self.state, self.stack = _State(), list[_State]()
        self.fonts, self.levels = dict[int, str](), dict[int, int]()
        self.info, self.dates = dict[str, str](), dict[str, list[int]]()
        self.draft, self.line, self.saved = Draft(), _Line(), list[_Line]()
        self.note, self.note_count = "", 0
        self.rows, self.cells, self.cell = list[list[str]](), list[str](), ""
        self.merges, self.merge = list[str](), ""
        self.items = list[str]()
        self.skip, self.star = 0, False

    def take(self, token: Token) -> None:
        """Go one token further."""
        if token.kind == "{":
            self.stack.append(self.state)
        elif token.kind == "}":
            self._leave()
        elif token.kind == "word":
            self._word(token.text, token.number)
        elif token.kind != "star":
            whole = token.text if token.kind == "text" else token.data
            rest, self.skip = whole[self.skip :], max(0, self.skip - len(whole))
            self._text(rest if isinstance(rest, str) else rest.decode(self._codec(), "replace"))
        self.star = token.kind == "star"

    def finish(self) -> Draft:
        """Close what is open and return the draft."""
        self._end_paragraph()
        self._end_table()
        self._end_list()
        if not self.draft.blocks and self.stack:
            raise ParsingError(msg("This RTF file is cut off or damaged. Open it in its own program and save it anew."))
        dates = [f"{d[0]:04}-{d[1]:02}-{d[2]:02}" for d in self.dates.values()]
        self.draft.meta = make_meta(self.info.get("title", ""), self.info.get("author", ""), *dates)
        self.draft.encoding = self.codec
        return self.draft

    def _codec(self) -> str:
        return self.fonts.get(self.state.font) or self.codec

    def _leave(self) -> None:
        left, self.skip = self.state.place, 0
        self.state = self.stack.pop() if self.stack else _State()
        if left == self.state.place:
            return
        if left == "footnote":
            self.note_count += 1
            self.line.notes.append((self.note_count, " ".join(self.note.split())))
            self.line.text += f"[{self.note_count}]"
            self.note = ""
        elif left == "shptxt":
            self._end_paragraph()
            self.line = self.saved.pop()

    def _text(self, text: str) -> None:
        place, state = self.state.place, self.state
        if place in ("", "shptxt"):
            if state.hidden:
                self.draft.drop("hidden", text)
            elif text:
                self.line.bold &= state.bold or not text.strip()
                self.line.text += {"super": raised, "sub": lowered}.get(state.script, str)(text)
        elif place in ("listtext", "pntext"):
            self.line.label += text
        elif place == "footnote":
            self.note += text
        elif place == "stylesheet" and (found := _HEADING.match(text)):
            self.levels.setdefault(state.style, int(found.group(1)))
        elif place in ("title", "author"):
            self.info[place] = self.info.get(place, "") + text
        elif place in ("header", "footer", "comment"):
            self.draft.drop(place, text.strip())

    def _word(self, word: str, number: int | None) -> None:
        if self.state.place == "skip":
            return
        if word in _DROPPED:
            self._set(place=_DROPPED[word])
        elif word in SKIPPED or (self.star and word not in _OPTIONAL):
            self._set(place="skip")
        elif word in _PLACES:
            if word == "shptxt":
                self.saved.append(self.line)
                self.line = _Line()
            self._set(place=word)
        elif word in SIGNS:
            self._text(SIGNS[word])
        elif word == "u":
            self.skip = 0
            self._text(chr((number or 0) % 65536))
            self.skip = self.state.after_unicode
        elif not (self._character(word, number) or self._document(word, number)) and self.state.place in ("", "shptxt"):
            self._paragraph(word, number)

    def _set(self, **changes: object) -> None:
        self.state = replace(self.state, **changes)  # type: ignore[arg-type]

    def _character(self, word: str, number: int | None) -> bool:
        on = number != 0
        match word:
            case "b":
                self._set(bold=on)
            case "v":
                self._set(hidden=on)
            case "super" | "sub" | "nosupersub":
                self._set(script=word if on and word != "nosupersub" else "")
            case "plain":
                self._set(bold=False, hidden=False, script="")
            case "f":
                self._set(font=number or 0)
            case "uc":
                self._set(after_unicode=1 if number is None else number)
            case _:
                return False
        return True

    def _document(self, word: str, number: int | None) -> bool:
        place = self.state.place
        if word in _PAGES:
            self.codec = self.likely or _PAGES[word]
        elif word == "ansicpg" and number and number not in (0, 1252):
            self.codec = f"cp{number}" if number != 10007 else "mac-cyrillic"
        elif word == "fcharset" and place == "fonttbl":
            self.fonts[self.state.font] = CHARSETS.get(number or 0, "")
        elif word in ("yr", "mo", "dy") and place in ("creatim", "revtim"):
            self.dates.setdefault(place, [1, 1, 1])[("yr", "mo", "dy").index(word)] = number or 1
        elif word == "s" and place == "stylesheet":
            self._set(style=number or 0)
        elif word == "outlinelevel" and place == "stylesheet":
            self.levels[self.state.style] = (number or 0) + 1
        else:
            return False
        return True

    def _paragraph(self, word: str, number: int | None) -> None:
        match word:
            case "par" | "sect" | "page":
                self._end_paragraph()
            case "pard":
                self._set(level=0, in_table=False, depth=0)
            case "s":
                self._set(level=self.levels.get(number or 0, 0))
            case "outlinelevel":
                self._set(level=(number or 0) + 1 if (number or 0) < 9 else 0)
            case "ilvl":
                self._set(depth=min(number or 0, 8))
            case "intbl":
                self._set(in_table=True)
            case "nestcell":
                self.line.text += " "
            case "trowd":
                self.merges = []
            case "clmrg" | "clvmrg":
                self.merge = word
            case "cellx":
                self.merges, self.merge = [*self.merges, self.merge], ""
            case "cell":
                self.cells.append(f"{self.cell} {self._taken().text}")
                self.cell = ""
            case "row":
                self._end_row()

    def _taken(self) -> _Line:
        """The paragraph so far; a new one begins."""
        line, self.line = self.line, _Line()
        line.text = line.text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
        return line

    def _end_row(self) -> None:
        for i, merge in enumerate(self.merges[: len(self.cells)]):
            if merge == "clmrg" and i:
                self.cells[i] = self.cells[i - 1]
            elif merge and self.rows and i < len(self.rows[-1]):
                self.cells[i] = self.rows[-1][i]
        self.rows, self.cells = [*self.rows, self.cells], []

    def _end_table(self) -> None:
        if self.cells:
            self._end_row()
        rows, self.rows = self.rows, []
        if rows:
            self._end_list()
            self.draft.add_table(make_table(rows))

    def _end_paragraph(self) -> None:
        line = self._taken()
        if self.state.in_table:
            self.cell += f" {line.text}"
            return
        self._end_table()
        if not line.text:
            return
        if line.label.strip() and not self.state.level:
            label = line.label.strip()
            self.items.append(
                "  " * self.state.depth + (label if any(map(str.isalnum, label)) else "-") + f" {line.text}"
            )
        else:
            self._end_list()
            if self.state.level:
                self.draft.heading(f"{line.label} {line.text}", self.state.level)
            elif not any(level < 9 for level in self.levels.values()) and is_fake_heading(line.text, line.bold):
                self.draft.heading(line.text, BOLD_LEVEL + depth_of(line.text))
            else:
                self.draft.add(line.text)
        if line.notes:
            self._end_list()
        for number, note in line.notes:
            self.draft.add(f"[{number}] {note}", "note")

    def _end_list(self) -> None:
        items, self.items = self.items, []
        self.draft.add("\n".join(items), "list")
