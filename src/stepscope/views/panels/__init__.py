"""The kinds of panels a report can hold, one per file; `web/src/panels/` has a file of the same name for each.

A file says which options its kind takes (`Options`), checks them against the runs (`check`), and says what the panel is
outside of the app: which answers a self-contained file has to carry for it (`pack`), and what stands in its place in
Markdown (`write`). The folder is the registry.
"""
