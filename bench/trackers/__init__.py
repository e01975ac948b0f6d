"""The trackers `bench/tracking.py` compares, one file each, all with the same five functions.

start(folder) -> handle         begin a run as the tool's own quick-start does, network off
log(handle, step, values)       log a dict of scalars at a step
finish(handle)                  end the run so that everything is on disk
read(folder, name) -> points    read one series back, as (steps, values)
serve(folder, port) -> Server   start the tool's own server; `chart_url` gives the data behind one chart
"""
