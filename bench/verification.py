"""How well the check of generated sentences tells right from wrong: `python bench/verification.py`.

A pair is a sentence, the passages shown to the model and the numbers it cites. "Caught": a wrong sentence does not
get the verdict "supported" (a swapped citation is caught when it is moved to the right passage). "Wrongly marked": a
right sentence or a paraphrase does not get it. The rules were written with `verification.jsonl` in view, not with
`verification_held_out.jsonl`; that one showed a single fault (a name after a dash), which was then mended. In the
pairs of `verification_nouns.jsonl` one noun or name stands in the place of another in a sentence that repeats its
passage otherwise; the paraphrases there change a verb. `verification_nouns_held_out.jsonl` was written before its
first run, which caught .63; what was missed then was looked at.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rag.answering.evidence import evidence
from rag.answering.verification import Claim, Finding, check
from rag.models.embedding import load_embedder
from rag.protocols import Embedder

ROOT = Path(__file__).resolve().parent.parent
RIGHT = ("right", "paraphrase")


def judged(pairs: Iterable[dict[str, Any]], embedder: Embedder | None) -> list[tuple[dict[str, Any], Finding]]:
    """Check every pair by itself."""
    found = []
    for pair in pairs:
        passages = evidence([("", passage) for passage in pair["passages"]], embedder)
        found.append((pair, check([Claim(pair["sentence"], tuple(pair["cited"]))], passages, embedder)[0]))
    return found


def as_wished(pair: dict[str, Any], finding: Finding) -> bool:
    """Tell whether the check did what it should."""
    if pair["kind"] in RIGHT:
        return finding.verdict == "supported" and not finding.moved
    if pair["kind"] == "swapped citation":
        return finding.moved and finding.cited == (2,) and finding.verdict == "supported"
    return finding.verdict != "supported"


def figures(found: list[tuple[dict[str, Any], Finding]]) -> dict[str, Any]:
    """Return shares by kind, and precision and recall of the alarm ("not supported, or moved")."""
    by_kind: defaultdict[str, list[bool]] = defaultdict(list)
    for pair, finding in found:
        by_kind[pair["kind"]].append(as_wished(pair, finding))
    wrong = [ok for kind, results in by_kind.items() if kind not in RIGHT for ok in results]
    right = [ok for kind, results in by_kind.items() if kind in RIGHT for ok in results]
    alarms = sum(wrong) + len(right) - sum(right)
    return {
        "pairs": len(found),
        "caught": sum(wrong) / max(len(wrong), 1),
        "wrongly_marked": 1 - sum(right) / max(len(right), 1),
        "precision": sum(wrong) / max(alarms, 1),
        "recall": sum(wrong) / max(len(wrong), 1),
        "as_wished": {kind: f"{sum(results)}/{len(results)}" for kind, results in by_kind.items()},
    }


def main() -> int:
    """Print the figures of a file of pairs, and with `--failures` the sentences that were judged wrongly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    files = sorted((ROOT / "tests/data").glob("verification*.jsonl"))
    parser.add_argument("pairs", nargs="*", type=Path, default=files)
    parser.add_argument("--models", type=Path, default=ROOT / ".konspekt", help="a data folder, for the unpacked model")
    parser.add_argument("--words-only", action="store_true", help="without an embedder")
    parser.add_argument("--failures", action="store_true")
    arguments = parser.parse_args()
    embedder = None if arguments.words_only else load_embedder("bundled", arguments.models, "")
    for file in arguments.pairs:
        pairs = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        found = judged(pairs, embedder)
        print(file.name, json.dumps(figures(found), ensure_ascii=False, indent=1))
        for pair, finding in found if arguments.failures else ():
            if not as_wished(pair, finding):
                missing = [pair["sentence"][a:b] for a, b in finding.missing]
                print(f"  {pair['kind']}: {pair['sentence']} -> {finding.verdict} {finding.support:.2f} {missing}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
