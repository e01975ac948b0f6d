"""The *Distributions* page: histograms over time, layer by layer."""
