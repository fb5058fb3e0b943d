"""The stems that carry a text's meaning: all but those of function words."""

from __future__ import annotations

from rag.words import tokens

_ENGLISH = """
a an the and or but if of to in on at by for with from as into about over after before between under is are was were be
been being am do does did has have had having can could may might will would shall should must it its this that these
those he she they them his her their we our us you your i me my who whom whose which what when where why how there here
also then than so such very just only not no nor all any each both more most other some own same too up out off again
once because while during through until against
"""
_RUSSIAN = """
и а но или если в во на из от до для при про по за у о об с со к ко над под перед между через без после как что чтобы
который которая которое которые которого которой которых котором каким какой какая какое какие каких каком кто кого кому
кем чем чего где куда откуда когда почему зачем сколько это этот эта эти этого этой этих этом тот та то те того той тех
так такой такая такое такие также тоже же ли бы не ни нет да уже ещё еще только лишь даже он она оно они его её ее их им
ему ей ими мы нас вы вас я меня свой своя свои своего своей был была было были быть есть является являются являлся
являлась можно может могут должен всё все весь вся всех один одна одно одни более менее очень
"""
_FUNCTION_WORDS = frozenset(tokens(_ENGLISH + _RUSSIAN))


def content(text: str) -> frozenset[str]:
    """Return the stems that carry meaning, numbers included; all stems where nothing else is left."""
    found = frozenset(tokens(text))
    return (found - _FUNCTION_WORDS) or found
