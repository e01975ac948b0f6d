"""The tools `bench/diagnose.py` compares on the corpus, one file each, with the same names.

REQUIREMENTS         what pip installs; all of them live in one venv, `.bench/diagnosers`
NAMES                tool -> kind of finding -> rule ids (with `*`) whose fault it names; a peer may be several tools
suited(entries)      the scripts it can be asked about in reasonable time
warm_up()            what to import before the scripts are forked off
begin(tool, script, faults) -> end
                     called in the script's process before its first line
end(printed, complained) -> [{"kind", "loud", "said", "line"}]
                     called after its last, with what it wrote to the two streams

A kind is matched to rules generously: a tool need not name the cause, only the class of fault the script has.
The tool's library is imported inside the functions: the bench reads the tables without having it.
"""
