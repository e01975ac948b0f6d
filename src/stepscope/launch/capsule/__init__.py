"""The capsule: a failing step, saved so that it can be replayed.

iteration   what the running step has used so far (references only; costs nothing)
keeper      the observer that follows the steps and says when to save
frames      plain values of the user's frames: loop counters, the batch's other half
sources     the user's own files, as text
save        all of it, within a size, into a run
manifest    what a capsule says of itself: `capsule.json`
plain       nested values as JSON and named tensors: no pickle, ever
tensors     those tensors in one safetensors file
load        a capsule opened again and checked
"""
