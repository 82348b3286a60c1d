#!/bin/sh
# Installs the npm packages when the lock file has changed. Needs npm and Node.js 20 or newer; the Node.js that runs this
# project is one of the packages.
set -eu
cd "$(dirname "$0")/.."
cmp -s package-lock.json node_modules/.installed-lock.json && exit 0
command -v npm >/dev/null 2>&1 || { echo "npm is missing: install Node.js 20 or newer with npm" >&2; exit 1; }
echo "installing packages (once, about half a minute) ..." >&2
if ! npm ci --no-audit --no-fund --loglevel=error >&2; then
  echo "npm ci failed: the packages of package-lock.json must be reachable" >&2
  exit 1
fi
# On a minimal Debian the Node.js of the project lacks one library.
if ! node_modules/.bin/node --version >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    { apt-get install -y --no-install-recommends libatomic1 || { apt-get update && apt-get install -y --no-install-recommends libatomic1; }; } >&2
  fi
  node_modules/.bin/node --version >/dev/null || { echo "node_modules/.bin/node does not start: install the library it names (Debian: libatomic1)" >&2; exit 1; }
fi
cp package-lock.json node_modules/.installed-lock.json
