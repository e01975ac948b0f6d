"""The tools `bench/diagnose.py` compares on the corpus, one file each, with the same names.

REQUIREMENTS         what pip installs; all of them live in one venv, `.bench/diagnosers`
NAMES                kind of finding -> rule ids (with `*`) whose fault it names; what is not here names no fault of ours
begin(script)        called in the script's process before its first line; gives `end`
end(printed) -> []   called after the script ended, with what it printed: {"kind", "loud", "said", "line"} of each finding

A kind is matched to rules generously: a tool need not name the cause, only the class of fault the script has.
The tool's library is imported inside the functions: the bench reads the tables without having it.
"""
