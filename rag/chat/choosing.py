"""Which chat model answers: the one chosen in the settings, or the first that the configured server offers."""

from __future__ import annotations

from rag.chat.ollama_chat import OllamaChat, list_models
from rag.chat.openai_chat import OpenAIChat
from rag.errors import ChatError
from rag.protocols import ChatModel
from rag.settings import Settings


def chat_models(settings: Settings) -> list[str]:
    """Return the names of the chat models on the configured server. Raises `ChatError`."""
    if settings.chat_url:
        return OpenAIChat("", settings.chat_url).models()
    return list_models(settings.ollama_url)


def load_chat(settings: Settings) -> ChatModel | None:
    """Return the model that should answer; `None` where none is chosen and no server with a model is there.

    A chosen model is returned without asking the server: if that is away, the reply says so and quotes instead.
    """
    name = settings.chat_model
    if not name:
        try:
            name = next(iter(chat_models(settings)), "")
        except ChatError:
            return None  # no server is no fault: the answer is made of quotes, and the page says how to add Ollama
    if not name:
        return None
    if settings.chat_url:
        return OpenAIChat(name, settings.chat_url)
    return OllamaChat(name, settings.ollama_url, settings.keep_alive)
