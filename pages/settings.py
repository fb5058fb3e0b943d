"""The Settings page: what answers, how passages are searched, where things are."""

from pages.ui.frame import frame
from pages.ui.preferences import preferences

with frame("Settings") as library:
    preferences(library)
