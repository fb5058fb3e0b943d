"""From passages to an answer that can be checked: quotes, a chat model's text with verified citations, or a refusal."""

from rag.answering.answers import FindChat, answer, wants_quotation
from rag.answering.prompts import standalone
from rag.answering.reply import Reply

__all__ = ["FindChat", "Reply", "answer", "standalone", "wants_quotation"]
