#!/bin/sh
# download-packages.sh LOCK FOLDER PACKAGE... : downloads packages of Debian into a folder, complete or not at all. The lock file
# serializes runs of several test processes.
set -eu
exec 9>"$1"
folder=$2
shift 2
flock 9
[ ! -e "$folder" ] || exit 0
partial=$folder.partial
rm -rf "$partial"
mkdir -p "$partial"
cd "$partial"
# As root it would change to a user who cannot write here.
download() {
  apt-get -o APT::Sandbox::User=root -o DPkg::Lock::Timeout=300 download "$@" >/dev/null 2>&1
}
download "$@" || { apt-get update -qq && download "$@"; }
mv "$partial" "$folder"
