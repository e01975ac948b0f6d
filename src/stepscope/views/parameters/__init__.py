"""The *Parameters* page: config and metrics as columns, and parameter importance."""
