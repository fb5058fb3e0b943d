"""What an index is: texts and states in a catalogue (SQLite), vectors in a store (Chroma), both kept in step as one
index, and the indexes of a data folder, of which one answers."""
