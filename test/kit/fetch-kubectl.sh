#!/bin/bash
# fetch-kubectl.sh FOLDER : unpacks the kubectl of Debian's package "kubernetes-client" into FOLDER without installing it, so that
# it needs no rights. Two runs at once do no harm: the folder appears whole or not at all.
set -euo pipefail
folder=$(readlink -m "$1")
mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
# A new machine has no package lists yet; only root can fetch them.
apt-get download -q kubernetes-client >/dev/null 2>&1 ||
  { apt-get update -qq && apt-get download -q kubernetes-client; } >/dev/null 2>&1
dpkg-deb -x kubernetes-client_*.deb files
mv -T files "$folder"
