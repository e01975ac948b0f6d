"""Views of a recorded step: visit, table, graph, first non-finite value. A saved step is read without torch."""
