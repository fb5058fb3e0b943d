"""Errors that are safe to show to the user: each says what happened and what to do."""

from __future__ import annotations

from rag.messages import Message


class KonspektError(Exception):
    """Base of every error of ours. `message` can be shown as it is, in any interface language."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message))
        self.message = message

    def __reduce__(self) -> tuple[type[KonspektError], tuple[Message]]:
        return type(self), (self.message,)


class ParsingError(KonspektError):
    """A file cannot be read: corrupt, of an unknown type, too large, or its parser died."""


class PasswordNeeded(ParsingError):
    """A file is encrypted. It is not tried again until it changes."""


class EmbeddingError(KonspektError):
    """An embedding model is missing, cannot be loaded, or gives unusable vectors."""


class RerankingError(KonspektError):
    """A reranking model is missing or cannot be loaded."""


class ChatError(KonspektError):
    """A chat model's server does not answer, lacks the model, or broke off."""


class StoreError(KonspektError):
    """The index cannot be opened, read or written."""


class SettingsError(KonspektError):
    """A setting or a folder in the settings cannot be used."""


class UploadError(KonspektError):
    """An uploaded file cannot be put into the notes folder."""


class QuestionError(KonspektError):
    """A question or an argument of a command cannot be used as it is."""
