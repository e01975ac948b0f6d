"""One file a package: loggers, callbacks and trackers for what people train with. Imported by name, never by `import stepscope`."""
