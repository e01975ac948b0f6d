"""The *Parameters* page: config and metrics as columns, and which parameter matters."""
