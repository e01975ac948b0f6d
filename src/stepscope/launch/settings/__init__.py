"""Where the settings of a script come from: parsers of command lines, config files, objects, constants, variables.

Every library is one row in `parsers.py` or `files.py` that turns what it parsed into a `Source`; everything after that
(flattening, comparing, reading again at the first step, recording) is the same for all of them.
"""
