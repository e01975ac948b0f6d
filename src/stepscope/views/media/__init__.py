"""The *Media* page: what runs logged besides numbers, and embeddings as points."""
