"""Characters as PDF fonts give them, turned into plain text without losing what a formula says."""

from __future__ import annotations

import re
import unicodedata

# The big operators and delimiters of TeX's math extension encoding (OMX); pieces of braces stand for one brace.
_DELIMITERS = "()[]⌊⌋⌈⌉{}⟨⟩|‖/\\"
_OMX = dict(enumerate(_DELIMITERS))
_OMX |= dict(enumerate("()()[]⌊⌋⌈⌉{}⟨⟩/\\()[]⌊⌋⌈⌉{}⟨⟩/\\/\\", start=0x10))
_OMX |= {0x30: "(", 0x31: ")", 0x32: "[", 0x33: "]", 0x38: "{", 0x39: "}", 0x44: "⟨", 0x45: "⟩"}
_OMX |= dict(enumerate("⊔⊔∮∮⊙⊙⊕⊕⊗⊗∑∏∫⋃⋂⊎⋀⋁∑∏∫⋃⋂⊎⋀⋁∐∐", start=0x46))
_OMX |= dict(enumerate("[]⌊⌋⌈⌉{}√√√√√", start=0x68))

# Adobe's private codes for parts of tall brackets: the first part stands for the bracket, the others for nothing.
_BRACKET_PARTS = {
    0xF8EB: "(",
    0xF8EE: "[",
    0xF8F1: "{",
    0xF8F6: ")",
    0xF8F9: "]",
    0xF8FC: "}",
    0xF8E8: "®",
    0xF8E9: "©",
    0xF8EA: "™",
}

# Adobe's Symbol encoding, from 0x20; it comes as U+F000 + code out of word processors.
_SYMBOL = dict(
    enumerate(
        " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼", start=0x20
    )
)
_SYMBOL |= dict(enumerate("€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑", start=0xA0))

_DRAWING_FONT = re.compile(r"^(LINE|LINEW|LCIRCLE|LASY)\w*\d", re.IGNORECASE)
EXTENSION_FONT = re.compile(r"^(cmex|lmex|txex|pxex|MTEX|rtxex|ntxex)", re.IGNORECASE)
MATH_FONT = re.compile(
    r"^(cmmi|cmsy|cmex|lmmath|lmmi|lmsy|msam|msbm|tx(mi|sy|ex)|px(mi|sy|ex)|ntx|rtx|eufm|euex|rsfs|stmary|wasy)|math",
    re.IGNORECASE,
)
# Mathematical letters, ligatures, wide and narrow forms: compatibility forms that only mean their plain letters.
_FOLDED = re.compile(
    "[\ufb00-\ufb06\ufb13-\ufb17\uff01-\uff5e\uff61-\uff9f\ufb50-\ufdff\ufe70-\ufefc"
    "\U0001d400-\U0001d7ff\u210e\u2126\u212a\u212b\u00b5]+"
)
_SPACES = re.compile("[\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_NOTHING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ue000-\uf8ff\U000f0000-\U0010ffff]"
)
_BROKEN_FF = re.compile(r"(?<=[A-Za-z])↵|↵(?=[a-z])")  # what some producers make of TeX's ff
_CYRILLIC_FOR = str.maketrans("ABCEHKMOPTXYaceopxyk", "АВСЕНКМОРТХУасеорхук")
_MIXED = re.compile(r"[A-Za-zА-Яа-яЁё]{3,}")
_LATIN = re.compile(r"[A-Za-z]")
_LATIN_NOT_ALIKE = re.compile(r"[^\W\dА-Яа-яЁёABCEHKMOPTXYaceopxyk]")
_CYRILLIC = re.compile(r"[А-Яа-яЁё]")

_SUPERSCRIPTS = dict(zip("0123456789+−-=()inaoeхх", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁱⁿᵃᵒᵉˣˣ", strict=True))
_SUPERSCRIPTS |= dict(zip("bcdfghjklmprstuvwxyzT", "ᵇᶜᵈᶠᵍʰʲᵏˡᵐᵖʳˢᵗᵘᵛʷˣʸᶻᵀ", strict=True))
_TRADE_MARKS = {"TM": "™", "SM": "℠", "ТМ": "™"}  # the last in Cyrillic letters
_SUBSCRIPTS = dict(zip("0123456789+−-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))


def clean(text: str, font: str) -> str:
    """Return `text` as drawn in `font` (name without subset prefix), in plain characters, NFC.

    Letters keep their meaning: x² stays x². What has no meaning outside its font (control characters,
    private codes, parts of brackets) is mapped where the font's encoding is known and dropped otherwise.
    """
    if text.isascii() and text.isprintable() and not EXTENSION_FONT.match(font):
        return text
    if _DRAWING_FONT.match(font):
        return ""
    if EXTENSION_FONT.match(font):
        text = "".join(_extension(ch) for ch in text)
    text = "".join(_private(ch) if "\ue000" <= ch <= "\uf8ff" else ch for ch in text)
    text = _SPACES.sub(" ", _NOTHING.sub("", text))
    text = _FOLDED.sub(lambda run: unicodedata.normalize("NFKC", run.group()), text)
    text = _BROKEN_FF.sub("ff", text)
    return _MIXED.sub(_one_script, unicodedata.normalize("NFC", text))


def _extension(ch: str) -> str:
    if 0x7A <= ord(ch) <= 0x7D or 0x80 <= ord(ch) < 0xC0:
        return ""
    return _OMX.get(ord(ch), ch) if ch != " " else ch


def _private(ch: str) -> str:
    code = ord(ch)
    return _BRACKET_PARTS.get(code) or (_SYMBOL.get(code - 0xF000, "") if 0xF020 <= code <= 0xF0FF else "")


def _one_script(word: re.Match[str]) -> str:
    text = word.group()
    cyrillic = len(_CYRILLIC.findall(text))
    if cyrillic * 2 <= len(text) or not _LATIN.search(text) or _LATIN_NOT_ALIKE.search(text):
        return text
    return text.translate(_CYRILLIC_FOR)


def raised(text: str, *, formula: bool) -> str:
    """Write a superscript in one line: digits and signs as ², letters so only in a formula, else "^(…)"."""
    if not formula and text.strip() in _TRADE_MARKS:
        return text.replace(text.strip(), _TRADE_MARKS[text.strip()])
    return _script(text, _SUPERSCRIPTS, "^", formula)


def lowered(text: str, *, formula: bool) -> str:
    """Write a subscript in one line, like `raised`: "₁", "ₙ", or "_(…)"."""
    return _script(text, _SUBSCRIPTS, "_", formula)


def _script(text: str, forms: dict[str, str], mark: str, formula: bool) -> str:
    bare = text.strip().replace(" ", "")
    if not bare or not bare.strip("′'*∗"):
        return text
    simple = all(ch in forms for ch in bare)
    if simple and (formula or bare.strip("+−-").isdigit()):
        return "".join(forms[ch] for ch in bare)
    if not formula:
        return text
    plain = text.strip()
    return f"{mark}{plain}" if len(plain) == 1 or plain.rstrip(".").isalnum() else f"{mark}({plain})"
