# Two commands for a fresh clone: `make sandbox` shows the product at work, `make test` passes all tests.
.PHONY: test check sandbox bench build format install

install:
	@tools/install.sh

test: install
	npm test

check: install
	npm run check

# A cluster, the operator, six simulated Windows hosts and two Machines, without root; only the installation needs network.
sandbox: install
	@./wmco sandbox

bench: install
	npm run bench --

build: install
	npm run build

format: install
	npm run format
