"""Words of a question that say nothing about where its answer stands. They are left out of questions only."""

from __future__ import annotations

_RUSSIAN = """
а без более бы был была были было быть в вам вас ведь весь во вот все всё всего всей всем всех вы где да даже для до
его ее её если есть еще ещё же за зачем и из или им ими их к как какая какие каким каких какого какое каков какова
каково каковы какой каком какому какою какую когда ко которая которое которой котором которому которую которые который
которых кто кого кому кем куда ли либо между меня мне могут мог может можно мой мы на над надо нам нас наш не него нее
неё нет ни них но ну о об обо однако он она они оно от откуда ото очень по под почему при про с сам свои свой своих
своего своей свою себе себя сколько со так такая такие такое такой там те тем того той только том тот тоже ту ты у уже
хотя чего чей чему чем через что чтобы чтоб чья эта эти этим этих это этого этой этом этот эту я является являются
называется называют называются называть назови назовите означает означают такого бывает бывают нужен нужна нужно нужны
расскажи расскажите объясни объясните опиши опишите покажи покажите найди найдите скажи скажите перечисли перечислите
пожалуйста подскажи подскажите дай дайте определи определите укажи укажите приведи приведите равен равна равно равны
зовут насколько именно также вообще какими чём нём ней ним нею нами вами тебя тебе твой ваш ваша ваши наша наши
"""

_ENGLISH = """
a about above after again all also am an and any are as at be because been being both but by can could did do does doing
done for from had has have having he her here him his how i if in into is it its itself just let me might mine more most
must my no nor not of on only or other our ours out over own please same shall she should so some such than that the
their theirs them then there these they this those through to too under until up upon us very was we were what when
where whether which while who whom whose why will with would yes you your yours tell explain describe show list give
state define find name called mean means meant many much
"""

STOP_WORDS = frozenset((_RUSSIAN + _ENGLISH).replace("ё", "е").split())
"""Folded surface forms (not stems), Russian and English."""
