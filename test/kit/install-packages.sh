#!/bin/sh
# install-packages.sh LOCK PACKAGE... : installs packages of Debian without starting their services: tests start servers
# of their own. The lock file serializes runs of several test processes.
set -eu
exec 9>"$1"
shift
flock 9
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
install() {
  apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" >/dev/null 2>&1
}
install "$@" || { apt-get update -qq && install "$@"; }
