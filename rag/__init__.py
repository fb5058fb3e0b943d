"""Konspekt's library: from files to passages, from a question to passages and a checkable answer."""
