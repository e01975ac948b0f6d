"""A profile as other tools read it: Chrome trace, .prof, speedscope, CSV, Parquet, JSON."""
