"""Plain questions and sentences, from which it is learnt what the numbers of an embedding model mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# By script (True: Cyrillic), of many subjects and kinds: their mean is nothing but "a question in this language".
QUESTIONS: Mapping[bool, Sequence[str]] = {
    True: (
        "Что такое инфляция и чем она вызвана?",
        "Когда началась Первая мировая война?",
        "Кто написал «Евгения Онегина»?",
        "Почему небо голубое?",
        "Сколько хромосом в клетке человека?",
        "Как решать квадратные уравнения?",
        "Где находится озеро Байкал?",
        "Чем митоз отличается от мейоза?",
        "Какие бывают виды договоров?",
        "Какой город был столицей Византии?",
        "Зачем компилятору таблица символов?",
        "В чём состоит теория спроса и предложения?",
        "Из каких частей состоит симфония?",
        "Назови признаки равенства треугольников.",
        "Как работает двигатель внутреннего сгорания?",
        "Что доказал Пастер и каким опытом?",
    ),
    False: (
        "What is inflation and what causes it?",
        "When did the First World War begin?",
        "Who wrote Pride and Prejudice?",
        "Why is the sky blue?",
        "How many chromosomes does a human cell have?",
        "How are quadratic equations solved?",
        "Where is Lake Victoria?",
        "How does mitosis differ from meiosis?",
        "What types of contract are there?",
        "Which city was the capital of the Byzantine Empire?",
        "What does a compiler need a symbol table for?",
        "What does the theory of supply and demand state?",
        "Which parts does a symphony consist of?",
        "Name the criteria for congruent triangles.",
        "How does an internal combustion engine work?",
        "What did Pasteur prove, and with which experiment?",
    ),
}
# Questions with a sentence that answers each, in the order question, answer.
ANSWERED: Sequence[tuple[str, str]] = (
    ("Когда отменили крепостное право?", "Крепостное право в России было отменено в 1861 году."),
    ("Из чего состоит атом?", "Атом состоит из ядра и движущихся вокруг него электронов."),
    ("Как найти площадь круга?", "Площадь круга равна произведению числа пи на квадрат радиуса."),
    ("Где происходит фотосинтез?", "У растений фотосинтез идёт в хлоропластах клеток листа."),
    ("Who wrote Hamlet?", "Hamlet is a tragedy written by William Shakespeare around 1600."),
    ("What causes inflation?", "Prices rise when the supply of money grows faster than output."),
    ("How does a vaccine work?", "A vaccine trains the immune system to recognise a pathogen."),
    ("What is a prime number?", "A prime has exactly two divisors, one and itself."),
)
