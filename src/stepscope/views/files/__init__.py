"""The *Files* part of a run: artifacts with versions, and the run's own folder."""
