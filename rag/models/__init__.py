"""The models that judge text: embedders (bundled, sentence-transformers, Ollama's) and rerankers (cross-encoders,
sentences), each loaded by its name in the settings."""
