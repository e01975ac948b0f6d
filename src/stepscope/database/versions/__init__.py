"""One file per change of the tables, applied in the order of their `down_revision`."""
