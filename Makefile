# Thin targets; what they do is in hack/. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help run test check test-unit test-contract test-openstack test-kube test-docs bench soak fuzz mutants lab-up lab-down lab-status generate

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## build, and play the story on the embedded cloud (needs Rust, nothing else)
	@cargo build -p kubectl-fabric
	@cargo run -q -p kubectl-fabric -- demo

test: ## everything: installs what is missing once, brings the lab up, runs every suite, prints a summary
	@hack/test

check: ## format, clippy, layers, layout, crates, documents, generated files, cargo deny
	@hack/check

test-unit: ## the tests of every crate that need no lab
	@hack/test unit

test-contract: ## the contract suite, on the embedded cloud and on the lab
	@hack/test contract

test-openstack: ## patterns, drift, lost state and deletion on the lab
	@hack/test openstack

test-kube: ## Gardener's kinds, and what is ours on them, on a real kube-apiserver
	@hack/test kube

test-docs: ## every example and every command of the documents, on the lab
	@hack/test docs

bench: ## figures beside their peers, one JSON line each: make bench P=8|9|10|11|12
	@test/bench/run $(P)

soak: ## the full form of reliability properties, one JSON line each: make soak R=1|2|3|4|5|6|8|16
	@hack/soak $(R)

fuzz: ## feed what reads input from outside with more and more odd input: make fuzz [T=target] [SECONDS=180]
	@hack/fuzz $(or $(T),all) $(SECONDS)

mutants: ## change the rules, one place at a time, and see which change no test notices: make mutants [F=file]
	@hack/mutants $(if $(F),--file $(F))

lab-up: ## start the real OpenStack APIs on loopback; with a Kubernetes beside them: hack/lab up all
	@hack/lab up

lab-down: ## stop them; the databases stay
	@hack/lab down

lab-status: ## what runs, and what each service answers
	@hack/lab status

generate: ## write the generated files anew
	@cargo run -q -p xtask -- generate
