"""A real student's notes (82 files of six courses) and control questions about them, by kind and by course.

python bench/student.py [--data ../shared/data] [--work DIR] [--modes hybrid,dense] [--misses]
"""

from __future__ import annotations

from measuring import arguments, library, need, report, working_folder

from rag.evaluation import read_questions


def main() -> None:
    options = arguments("Retrieval and refusals on a student's library.").parse_args()
    notes, file = need(options.data / "student"), need(options.data / "student.jsonl")
    control = [{**q, "course": q.get("file", "none").split("/")[0]} for q in read_questions(file)]
    modes = options.modes.split(",")
    with working_folder(options) as work, library(notes, work / "index.student") as opened:
        by_kind = opened.evaluate(control, (1, 3, 5), modes, by="kind", rerank=options.rerank or None)
        by_course = opened.evaluate(control, (1, 3, 5), modes[:1], by="course", rerank=options.rerank or None)
    report("A student's library, by kind of question", by_kind, options.misses)
    report("A student's library, by course", by_course, misses=False)


if __name__ == "__main__":
    main()
