"""Views of a recorded step: visit, table, graph, first non-finite value. Saved steps can be read without torch."""
