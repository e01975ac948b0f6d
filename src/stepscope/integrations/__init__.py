"""One file per package: loggers, callbacks and trackers. Imported by name, never by `import stepscope`."""
