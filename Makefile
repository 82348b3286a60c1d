# Two commands for a fresh clone: `make sandbox` shows the product at work, `make test` passes all tests.
.PHONY: test check sandbox bench build release format install

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

# One executable for Linux: dist/wmco.
build: install
	npm run build

# Everything of a release in dist/release: make release VERSION=11.0.0 PAYLOAD=folder
release: install
	npm run release -- $(if $(VERSION),--version $(VERSION)) $(if $(PAYLOAD),--payload $(PAYLOAD)) \
	  $(if $(IMAGE),--image $(IMAGE)) $(if $(BUNDLE_IMAGE),--bundle-image $(BUNDLE_IMAGE)) \
	  $(if $(CATALOG_IMAGE),--catalog-image $(CATALOG_IMAGE)) $(if $(PAUSE_IMAGE),--pause-image $(PAUSE_IMAGE))

format: install
	npm run format
