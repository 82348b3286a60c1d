# Two commands for a fresh clone: `make sandbox` shows the product at work, `make test` passes all tests.
.PHONY: test check sandbox bench build format install

install:
	@tools/install.sh

test: install
	npm test

check: install
	npm run check

# The sandbox comes with the lifecycle of hosts; until then the offline commands are what can be shown.
sandbox: install
	@echo "The sandbox is not part of this version yet. What works without a cluster today:"
	@echo "  ./wmco render services -f examples/cluster.yaml"
	@./wmco render services -f examples/cluster.yaml

bench: install
	npm run bench --

build: install
	npm run build

format: install
	npm run format
