"""Chat models on servers: Ollama's own protocol, the OpenAI-compatible one, and which of them answers."""
