#!/bin/sh
# Installs the server of OpenSSH from Debian without starting its service: tests start servers of their own.
set -eu
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
apt-get install -y --no-install-recommends openssh-server >/dev/null 2>&1 ||
  { apt-get update -qq && apt-get install -y --no-install-recommends openssh-server; } >/dev/null 2>&1
