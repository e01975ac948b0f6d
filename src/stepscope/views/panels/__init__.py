"""The kinds of panels in a report, one per file; `web/src/panels/` has a file of the same name for each.

A file defines the options of its kind (`Options`), checks them against the runs (`check`), and defines the panel
outside the app: the API responses a self-contained file must include (`pack`), and its Markdown form (`write`). The
folder is the registry.
"""
