"""Words of opposite direction. In a sentence that otherwise repeats its evidence, one for the other turns it round."""

from __future__ import annotations

import re
from itertools import chain

_PAIRS = (
    (
        r"увелич|повы[шс]|поднима|подня|возраст|раст[её]т|increas|rais(?:es?|ed|ing)|ris(?:es?|ing)|rose|grow|grew",
        r"уменьш|пони[жз]|сни[жз]|опуска|пада[еюл]|сокра[щт]|decreas|reduc|lower(?:s|ed|ing)|fall|fell|declin|drop(?:s|ped)",
    ),
    (r"быстр|ускор|fast|accelerat|quick", r"медлен|замедл|slow"),
    (r"больш|more|greater|larger", r"меньш|less|fewer|smaller"),
    (r"максим|наибольш|maxim", r"миним|наименьш|minim"),
    (r"толст|thick", r"тонк|тонч|thin(?:n?e|\b)"),
    (r"высок|выше|high", r"низк|ниже|low(?:e[rs]|\b)"),
    (r"сильн|усил|strong", r"слаб|ослаб|weak"),
    (r"удва|удво|doubl", r"уполовин|halv"),
    (r"введ|ввод|вв[её]л|introduc", r"отмен|упраздн|abolish"),
    (r"до\b|перед\b|before", r"после\b|after\b"),
    (r"начал|начин|beg[aiu]n|start", r"законч|заканч|конча|end(?:s|ed)|finish"),
    (r"перв|first", r"последн|last"),
    (r"лев(?:ый|ая|ое|ого|ой|ом|ую|ые|ых)|left", r"прав(?:ый|ая|ое|ого|ой|ом|ую|ые|ых)|right"),
    (r"север|north", r"юг|южн|south"),
    (r"восток|восточ|east", r"запад|west"),
    (r"всегда|always", r"никогда|иногда|never|sometimes"),
    (r"положит|positive", r"отрицат|negative"),
    (r"внутр|inner|internal", r"внешн|наружн|outer|external"),
    (r"верхн|upper", r"нижн|lower"),
    (r"одинаков|совпада|same|equal", r"различ|отлича|different|unequal"),
    (r"разреш|позвол|allow|permit", r"запре[тщ]|forbid|prohibit"),
    (r"открыва|откры[тл]|open", r"закрыва|закры[тл]|clos(?:e|ing)"),
    (r"устойчив|стабильн|stable", r"неустойчив|нестабильн|unstable"),
    (r"лето\b|лета\b|летом|летн|summer", r"зим|winter"),
    (r"утр|morning", r"вечер|evening"),
    (r"дн[её]м\b|дневн|daytime", r"ночь|ночн|night"),
    (r"мужск|male", r"женск|female"),
    (r"прям(?:о|ая|ой|ую)\b|direct", r"обратн|invers"),
    (r"активн|active", r"пассивн|passive"),
    (r"четн|even\b", r"нечетн|odd\b"),
    (r"поглоща|поглоти|absorb", r"выделя|излуча|испуска|emit|releas"),
    (r"расшир|expan", r"сжима|сжат|compress|contract"),
    (r"вдох|вдыха|inhal", r"выдох|выдыха|exhal"),
    (r"необходим\w* и достаточн|necessary and sufficient", r"(?:лишь|только) необходим|only necessary"),
)
_COMPILED = tuple((re.compile(rf"\b(?:{up})"), re.compile(rf"\b(?:{down})")) for up, down in _PAIRS)


def turned_round(claim: str, evidence: str) -> bool:
    """Tell whether one text (folded) has a word of one direction where the other has only its opposite."""
    for up, down in chain(_COMPILED, ((down, up) for up, down in _COMPILED)):
        if up.search(claim) and not down.search(claim) and down.search(evidence) and not up.search(evidence):
            return True
    return False
