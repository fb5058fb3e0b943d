"""Checks a generated answer against the passages it cites, sentence by sentence, without a second model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rag.answering.citations import citations, shown_text
from rag.answering.content_words import content, meaningful
from rag.answering.contradiction import misplaced_numbers, swapped_numbers
from rag.answering.evidence import Evidence, evidence, holds
from rag.answering.facts import facts
from rag.answering.phrases import says_no_answer
from rag.answering.replacement import replaced_nouns
from rag.answering.reply import UNSUPPORTED, AnswerSentence, Mark, Reply, Verdict
from rag.answering.support import support
from rag.answering.tidying import tidied
from rag.messages import msg
from rag.protocols import Embedder, Vectors
from rag.sentences import sentences

SUPPORTED, PARTLY = 0.5, 0.3
_MARKS = re.compile(r"[^\S\n]*((?:\[\d{1,3}\])+)")
_MARK = re.compile(r"\[(\d{1,3})\]")
_TABLE_RULE = re.compile(r"\s*\|?\s*:?-{2,}")
_PADDING = re.compile(
    r"(?:надеюсь|если у (?:вас|тебя)|обращайтесь|дайте знать|вот (?:ответ|что)|i hope|hope this|let me know|feel free"
    r"|if you have any|here is|here's)\b",
    re.IGNORECASE,
)
_SHORT = 3  # stems that carry meaning


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer without its marks, and the passages it cites (by number). `question` is what it answers:
    "In 2000." says something only together with it."""

    text: str
    cited: tuple[int, ...]
    question: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What the check says of a claim. `cited` are the marks it should have; `moved` tells that they were changed."""

    claim: Claim
    cited: tuple[int, ...]
    verdict: Verdict
    support: float
    missing: tuple[tuple[int, int], ...] = ()
    moved: bool = False


def check(claims: Sequence[Claim], passages: Sequence[Evidence], embedder: Embedder | None) -> list[Finding]:
    """Judge claims against the passages, numbered from 1. A mark that points to the wrong passage is moved to the one
    that supports the sentence; a sentence without marks is compared with all passages."""
    told = [_told(claim, passages) for claim in claims]
    vectors = embedder.embed_passages(told) if embedder and claims else [None] * len(claims)
    return [_finding(*row, passages) for row in zip(claims, told, vectors, strict=True)]


def _told(claim: Claim, passages: Sequence[Evidence]) -> str:
    """The sentence, after its question where it is a bare fact that needs one."""
    own = {stem for stem in meaningful(claim.text) if not stem.isdigit()}
    known = frozenset[str]().union(*(stems for passage in passages for stems in passage.stems))
    bare = len(own) < _SHORT and own <= known and bool(facts(claim.text))
    return f"{claim.question} {claim.text}" if claim.question and bare else claim.text


def _finding(claim: Claim, told: str, vector: Vectors | None, passages: Sequence[Evidence]) -> Finding:
    def judged(numbers: Sequence[int]) -> Finding:
        cited = [passages[n - 1] for n in numbers]
        missing = missing_facts(claim.text, cited, told)
        score = support(told, vector, cited, certain=not missing and bool(facts(claim.text)))
        return Finding(claim, tuple(numbers), _verdict(score, missing), score, missing)

    own = judged(claim.cited) if claim.cited else None
    if own is not None and own.verdict == "supported":
        return own
    others = [judged([n]) for n in range(1, len(passages) + 1) if (n,) != claim.cited]
    best = max(
        others, key=lambda other: (other.verdict == "supported", -len(other.missing), other.support), default=own
    )
    if best is not None and (best.verdict == "supported" or (own is None and best.verdict == "partly")):
        return replace(best, moved=True)
    return own or judged([])


def _verdict(score: float, missing: Sequence[tuple[int, int]]) -> Verdict:
    if score >= SUPPORTED:
        return "partly" if missing else "supported"
    return "partly" if score >= PARTLY and not missing else "not found"


def missing_facts(claim: str, cited: Sequence[Evidence], told: str = "") -> tuple[tuple[int, int], ...]:
    """Return where in the claim the facts stand that no cited passage holds, or that it holds of something else.
    `told` ends with the claim, and says more where the claim alone is too short."""
    told = told or claim
    ahead = len(told) - len(claim)
    texts = [passage.everything for passage in cited]
    stretches = [text for passage in cited for text in passage.texts]
    headings = [passage.heading for passage in cited if passage.heading]
    missing = [(fact.start, fact.end) for fact in facts(claim) if not holds(cited, fact, claim[fact.start : fact.end])]
    missing += swapped_numbers(claim, texts) + replaced_nouns(claim, [*stretches, *headings])
    misplaced = misplaced_numbers(told, stretches, only_years=not ahead)
    missing += [(start - ahead, end - ahead) for start, end in misplaced if start >= ahead]
    return _apart(missing)


def _apart(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Sort spans; of those that overlap the first stays."""
    kept: list[tuple[int, int]] = []
    for span in sorted(spans):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return tuple(kept)


def claims_of(text: str) -> list[tuple[int, int, tuple[int, ...]]]:
    """Cut an answer into (start, end, cited numbers), marks inside the span. A sentence without marks of its own
    takes those
    of the next sentence of its paragraph that has some: writers put one mark after several sentences."""
    found: list[tuple[int, int, tuple[int, ...]]] = []
    at = 0
    for paragraph in text.split("\n"):
        spans = [(at + a, at + b) for a, b in sentences(paragraph)]
        inherited: tuple[int, ...] = ()
        rows = []
        for start, end in reversed(spans):
            own = tuple(dict.fromkeys(int(n) for n in _MARK.findall(text[start:end])))
            inherited = own or inherited
            rows.append((start, end, inherited))
        found += reversed(rows)
        at += len(paragraph) + 1
    return found


def check_reply(reply: Reply, embedder: Embedder | None) -> bool:
    """Check a reply's text: mend marks, mark missing facts, give verdicts. Tells whether anything at all is
    supported."""
    hits = reply.result.hits
    text = tidied(reply.text, hits)
    spans = [span for span in claims_of(text) if _is_claim(text[span[0] : span[1]], text[span[1] :])]
    passages = evidence([(" ".join(hit.chunk.heading), hit.chunk.text) for hit in hits], embedder)
    claims = [
        Claim(_without_marks(text[start:end]), tuple(n for n in cited if n <= len(hits)), reply.reading)
        for start, end, cited in spans
    ]
    findings = check(claims, passages, embedder)
    if not any(finding.verdict == "supported" for finding in findings):
        return False
    _write(reply, text, spans, findings)
    return True


def _is_claim(text: str, following: str) -> bool:
    bare = _without_marks(text)
    if re.fullmatch(r"\d{1,2}[.)]", bare) or _TABLE_RULE.match(following):  # a list's numbering; a table's header
        return False
    if _is_title(bare) or _PADDING.match(bare):
        return any(fact.kind in ("number", "date") for fact in facts(bare))
    return bool(content(bare)) and not says_no_answer(bare) and not bare.rstrip("*_ ").endswith((":", "?"))


def _is_title(bare: str) -> bool:
    return bare.startswith("#") or (re.fullmatch(r"\*\*[^*]+\*\*", bare) is not None and len(bare.split()) <= 6)


def _without_marks(text: str) -> str:
    return re.sub(r"\s+([.!?…,;])", r"\1", _MARKS.sub("", text)).strip()


def _write(
    reply: Reply, text: str, spans: Sequence[tuple[int, int, tuple[int, ...]]], findings: Sequence[Finding]
) -> None:
    """Put the checked sentences together again, with the marks they should have and `UNSUPPORTED` after missing
    facts."""
    written, marks, judged, last = "", [], [], 0
    for (start, end, _), finding in zip(spans, findings, strict=True):
        written += shown_text(text[last:start])
        last, begin = end, len(written)
        body, stop = _split_stop(_with_doubts(finding))
        written += shown_text(body)
        for i, n in enumerate(finding.cited):
            written += "" if i else " "
            marks.append(Mark(len(written), len(written) + len(f"[{n}]"), n))
            written += f"[{n}]"
        written += stop
        missing = tuple(finding.claim.text[a:b] for a, b in finding.missing)
        judged.append(AnswerSentence(begin, len(written), finding.cited, finding.verdict, finding.support, missing))
    written += shown_text(text[last:])
    cited = [n for finding in findings for n in finding.cited]
    reply.replace_text(
        written, marks=tuple(marks), sentences=tuple(judged), citations=citations(cited, reply.result.hits)
    )
    _warn(reply, findings)


def _with_doubts(finding: Finding) -> str:
    text = finding.claim.text
    for _, end in reversed(finding.missing):
        text = text[:end] + UNSUPPORTED + text[end:]
    return text


def _split_stop(text: str) -> tuple[str, str]:
    body = re.sub(r"(?:(?<![(.!?…])[.!?…]+[»”\"')*]*|\s*\|\s*)\Z", "", text)
    return body, text[len(body) :]


def _warn(reply: Reply, findings: Sequence[Finding]) -> None:
    supported = sum(finding.verdict == "supported" for finding in findings)
    if supported < len(findings):
        reply.warn(
            msg(
                "{supported} of {total} sentences are supported by the passages they cite.",
                supported=supported,
                total=len(findings),
            )
        )
    missing = [finding.claim.text[a:b] for finding in findings for a, b in finding.missing]
    if missing:
        reply.warn(
            msg("The cited passages do not say this, marked (?): {facts}.", facts=", ".join(dict.fromkeys(missing)))
        )
    if any(finding.moved and finding.claim.cited for finding in findings):
        reply.warn(msg("A citation pointed to the wrong passage and was moved."))
    if any(not finding.claim.cited for finding in findings):
        reply.warn(msg("The model left a paragraph without a citation."))
