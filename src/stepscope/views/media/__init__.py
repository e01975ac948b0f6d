"""The *Media* page: non-numeric data of runs, and embeddings as points."""
