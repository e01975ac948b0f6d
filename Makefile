# The two commands of the README, and what they share. `make help` lists them.
.PHONY: help setup demo team-demo test corpus soak
help: ## this list
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: ## only the set-up: .venv, Python and web packages, the built web app
	@scripts/setup

demo: setup ## train eighteen small models and open the app on them
	@.venv/bin/stepscope demo

team-demo: setup ## a team's server, two people and three machines whose runs arrive live, until Ctrl-C
	@scripts/team-demo

test: setup ## everything: lint, types, Python tests, the packages of others, docs, web tests, browser tests
	@scripts/check

corpus: setup ## record the corpus again where it changed (half an hour for all of it); tests replay it
	@.venv/bin/python tests/corpus/record.py

soak: setup ## the fault suite, the attack suite and the fuzzers, for MINUTES (once without); one table: tried, held, lost
	@scripts/soak --minutes $(or $(MINUTES),0)
