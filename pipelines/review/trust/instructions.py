"""What tells an agent how to behave, and whose words an entry passes on. Words only ever lower what is believed."""

from __future__ import annotations

import re
from typing import Final

from pipelines.store.item import ItemType

_ORDERS: Final = re.compile(
    r"\b(?:always|never|from now on|going forward|henceforth|in (?:all )?future|ignore|disregard|"
    r"(?:do not|don't|must not|mustn't|should not|shouldn't|may not) [a-z]{2,14}|must|"
    r"remember (?:that|to)|make sure|be sure to|without exception|no exceptions|at all times|under no circumstances|"
    r"you (?:should|shall|will|may|can|are to|need to|have to|ought to)|(?:agents?|assistants?|bots?|"
    r"models?) (?:should|shall|will|are to)|"
    r"(?:every|each|any|all) (?:agents?|assistants?|bots?)|"
    r"(?:when(?:ever)?|if|once|every time|each time|any ?time) (?:[a-z]{1,14} ){0,4}?(?:asks?|asked|says?|said|"
    r"mentions?|requests?|"
    r"wants|needs|see|sees|starts?|begins?|runs?|comes?|talks?|prompts?|prompted)|"
    r"(?:before|after|on|at the (?:start|beginning|end) of) (?:each|every|any|all)|by default|"
    r"(?:is|are) (?:required|forbidden|prohibited|mandatory|obliged|expected|allowed|permitted|not allowed)|"
    r"(?:has|have) to be|(?:the )?(?:user|owner) (?:wants|expects|prefers|likes|requires)|policy|rule|"
    r"immer|stets|nie(?:mals)?|ab (?:sofort|jetzt)|von (?:jetzt|nun) an|k[uü]nftig|in zukunft|muss|m[uü]ssen|sollen|"
    r"soll|d[uü]rfen|darf|"
    r"toujours|jamais|d[eé]sormais|dor[eé]navant|[aà] partir de maintenant|[aà] l['’]avenir|doit|doivent|devez|"
    r"siempre|nunca|jam[aá]s|a partir de ahora|de ahora en adelante|debe|deben|tienen? que|"
    r"sempre|d['’]ora in poi|deve|devono|devem|a partir de agora|"
    r"всегда|никогда|отныне|впредь|должн[аыо]|должен|нельзя)\b|"
    r"必须|必須|始终|始終|总是|總是|永远|永遠|从现在起|從現在起|今后|今後|不要|不得|不许|禁止|务必|務必|必ず|常に|"
    r"してはいけ|しなければ|しないで|してください",
    re.IGNORECASE,
)
# A resolution is a group's word. That it binds the group is the group's affair; that it binds an agent is not.
_RESOLVED: Final = re.compile(
    r"\b(?:resolution|resolved|resolves|proposal|motion|consensus|agreed)\b(?: #?\d{1,4})?\s?:|"
    r"\b(?:the |this )?(?:group|wg|working group|committee|board|council|assembly) (?:agrees|agreed|resolves|resolved|"
    r"decides|decided)\b",
    re.IGNORECASE,
)
_AGENT: Final = re.compile(
    r"(?<!\buser )(?<!\buser-)(?<!\bpublishing )(?<!\bestate )(?<!\bteaching )"
    r"\b(?:agents?|assistants?|chat ?bots?|bots|ais?|language models?|llms?|copilots?|claude|chatgpt|gemini|codex|"
    r"future sessions?)\b",
    re.IGNORECASE,
)

# What holds other people's words: a noun of this kind that says something, or out of which something was read.
_HOLDER: Final = (
    r"(?:web ?page|page|web ?site|site|readme(?:\.md)?|docs?|documentation|article|blog|blog post|post|e-?mail|"
    r"mail|message|issue|"
    r"comment|ticket|pr|pull request|merge request|tool|tools?(?: result| output| description)|output|response|"
    r"result|server|"
    r"pdf|document|file|changelog|release notes?|package|repo|repository|plugin|skill|extension|mcp(?: server)?|search|"
    r"search results?|snippet|tweet|thread|newsletter|vendor|customer|client|visitor|caller|stranger|sender|"
    r"attachment|invite|"
    r"invitation|event|calendar|form|review|advisory|bot|webhook|feed|forum|wiki|guide|tutorial|manual|banner|ad|"
    r"advert|"
    r"popup|header|footer|licen[cs]e|log file|error(?: message)?|stack trace|commit message|description|"
    r"spreadsheet|sheet|"
    r"slide|deck|image|screenshot|qr code|subtitle|transcript|voicemail|sms|chat|dm|contributor|supplier|recruiter|api|"
    r"dataset|notebook|gist|pastebin|url|link|text|letter|note|leaflet|survey|app|registry|marketplace)s?"
)
# It said so itself: what it should say, did not say or was told is no word of its own, nor what others say of it.
_ITSELF: Final = r"(?<!\bshould )(?<!\bmust )(?<!\bnot )(?<!n't )(?<!\bto )(?<!\bare )(?<!\bbe )(?<!\bis )(?<!\bwere )"
_NO_OTHER: Final = (
    r"(?! (?:(?:that|which) )?(?:the|a|an|we|he|she|they|i) (?:[a-z]{1,14} )?(?:asked|said|told|wrote|says?)\b)"
)
# A note that one is about to write is no source either.
_NOT_MADE: Final = r"(?<!\badd a )(?<!\badding a )(?<!\bwrite a )(?<!\bput a )(?<!\binclude a )(?<!\bdraft a )"
_SAYS: Final = (
    r"(?:says?|said|saying|tells?|told|states?|stated|instructs?|instructed|asks?|asked|asking|requests?|"
    r"requested|reads|claims?|"
    r"claimed|recommends?|recommended|suggests?|suggested|demands?|demanded|insists?|insisted|mentions?|mentioned|"
    r"writes?|wrote|"
    r"advises?|advised|urges?|urged|orders|ordered|warns?|warned|announces?|announced|explains?|explained|goes)"
)
# Of what is somebody's message as a whole, what is in it is told as well.
_LETTER: Final = (
    r"(?:web ?page|page|web ?site|readme(?:\.md)?|article|post|e-?mail|mail|message|issue|comment|ticket|"
    r"attachment|newsletter|"
    r"tool (?:result|output)|search results?|snippet|pdf|invite|review)s?"
)
_HELD: Final = (
    r"(?:contains?|contained|had|includes?|included|returned|showed|wants?|wanted|requires?|required|listed|written)"
)
_OUTSIDE: Final = re.compile(
    rf"\b{_NOT_MADE}{_HOLDER}\b{_NO_OTHER}[^.;!?\n]{{0,60}}?\b{_ITSELF}{_SAYS}\b|"
    rf"\b{_LETTER}\b[^.;!?\n]{{0,40}}?\b(?<!\bnot )(?<!n't ){_HELD}\b|"
    rf"\b(?:so|as|thus) (?:says?|said|writes?|wrote|reads?|claims?) (?:the |a |an |its |their |our )?"
    rf"(?:[\w-]{{1,20}} ){{0,2}}?{_HOLDER}\b|"
    rf"\b(?:according to|as (?:stated|written|described|required|requested|instructed|told|asked|advised|"
    rf"suggested) (?:in|on|by)|"
    rf"per(?= (?:the|this|that|an?|its|their|our)\b| readme)|"
    rf"quot(?:ed|ing|e) (?:from|of)?|cop(?:ied|y) (?:from|of)|pasted? (?:from|of)?|excerpt (?:from|of)|"
    rf"found (?:in|on)|"
    rf"(?:learn(?:ed|t)|came|comes|taken|got|gathered|noted|extracted|imported|seen|saw) (?:this )?(?:in|on|from|"
    rf"at)|source:?|text of|content of) "
    rf"(?:the |a |an |this |that |its |their |our |his |her |some )?(?:[\w-]{{1,20}} ){{0,3}}?{_HOLDER}\b|"
    rf"(?:\b(?:from|via)|(?:^|[.:;,>*-] ?|\b(?:says?|said|reads?|found|written|stated|asked|requested|"
    rf"told|listed) )\bin) "
    rf"(?:the |a |an |this |that |its |their |our |his |her )(?:[\w-]{{1,20}} ){{0,2}}?"
    rf"(?:{_LETTER}|vendor|customer|web|internet|stranger|visitor)\b|"
    r"\b(?:fetched|scraped|downloaded|browsed|visited|crawled|opened|looked up|googled|summari[sz](?:ed|ing)|"
    r"translated|searched the web|"
    r"web search|read through)\b[^.;!?\n]{0,60}?(?:https?:|www\.|\b(?:page|site|url|article|readme|email|e-mail|"
    r"mail|pdf|document|web|"
    r"issue|docs|documentation|thread|post|repo|repository|attachment|feed|link|invite|ticket)\b)|"
    r"https?://\S{1,300} (?:says?|said|states?|tells?|reads?|:)|\b(?:source|from|via|url|fetched|quoted?|web|page|"
    r"subject|sender|"
    r"external|untrusted|tool (?:result|output)|web ?fetch|web ?search)\b ?: ?",
    re.IGNORECASE,
)
_TOLD_ABOVE: Final = re.compile(
    rf"https?:|\b(?:fetched|scraped|pasted|quoted?|external|untrusted|forwarded|copied|downloaded|web ?fetch|"
    rf"web ?search|tool (?:result|output)s?|"
    rf"from (?:the |a |an )?(?:[\w-]{{1,20}} ){{0,3}}?{_HOLDER}|(?:contents?|text|notes?|excerpt|quotes?) (?:of|"
    rf"from))\b|^(?:readme(?:\.md)?|e-?mails?|web ?pages?|"
    r"search results?|inbox|newsletters?)\b",
    re.IGNORECASE,
)


def instructs(kind: ItemType, text: str) -> bool:
    """Return whether something tells an agent how to behave: a Rule, or words that order or forbid."""
    return kind is ItemType.RULE or bool(_ORDERS.search(text))


def passes_on(text: str) -> bool:
    """Return whether an entry says that its words are somebody else's: of a page, a mail, a tool's output.

    A group's resolution is the group's own journal, unless it turns to an agent: then it is somebody else's wish.
    """
    return bool(_OUTSIDE.search(text)) or bool(_RESOLVED.search(text) and _AGENT.search(text))


def heads_others_words(heading: str) -> bool:
    """Return whether what stands under a heading is somebody else's words."""
    return bool(_TOLD_ABOVE.search(heading))
