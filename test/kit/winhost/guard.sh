#!/bin/bash
# guard.sh RUNS : gives one run of tests a network and a folder of its own, named by a number N: bridge wmcowN with the address
# 10.99.N.1/24, folder RUNS/N. Prints N and then waits until its input ends: whoever started it is gone then, in good order or
# by a crash, and everything of the run goes. First of all it removes what earlier runs left whose guards were killed too.
# A run is alive while its guard holds the lock RUNS/N.lock.
set -u
runs=$1
mkdir -p "$runs"

# Ends the hosts of a run. A host is the tree below a process "unshare" whose command line names the folder of the run; killing
# the first process inside, which Linux counts as switching off, takes all others along before "unshare" ends.
end_hosts() {
  local pid init turn
  for pid in $(grep -lzF -- "$runs/$1/" /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3); do
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = unshare ] || continue
    init=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
    kill -9 ${init:-$pid} 2>/dev/null
    for turn in $(seq 200); do [ -e "/proc/$pid" ] && sleep 0.05 || break; done
  done
}

clean_up() {
  local link
  end_hosts "$1"
  for link in $(ip -o link show | grep -oE "wmcow$1(h[0-9]+)?[@:]" | tr -d '@:'); do ip link del "$link" 2>/dev/null; done
  # A process that is being killed may still write; a second try is enough.
  rm -rf "${runs:?}/$1" 2>/dev/null || { sleep 1; rm -rf "${runs:?}/$1"; }
  rm -f "$runs/$1.lock"
}

sweep() {
  local number
  for number in $({ ls "$runs"; ip -o link show | grep -oE 'wmcow[0-9]+:' | tr -dc '0-9\n'; } | grep -oE '^[0-9]+' | sort -un); do
    exec 8>>"$runs/$number.lock"
    flock --nonblock 8 && clean_up "$number"
    exec 8>&-
  done
}

choose_number() {
  for number in $(seq 254); do
    [ -z "$(ip -4 route show root "10.99.$number.0/24")" ] && ip link add "wmcow$number" type bridge 2>/dev/null && return 0
  done
  echo "winhost: none of the networks 10.99.1.0/24 to 10.99.254.0/24 is free" >&2
  exit 1
}

exec 9>"$runs.lock"
flock 9
sweep
choose_number
exec 8>>"$runs/$number.lock"
flock 8
# A bridge of which the address is not set takes that of its newest member, and neighbours would talk to the old one.
ip link set "wmcow$number" address "02:99:00:00:00:$(printf %02x "$number")" up
ip addr add "10.99.$number.1/24" dev "wmcow$number"
mkdir -p "$runs/$number"
exec 9>&-
trap '' INT TERM HUP
echo "$number"
exec >/dev/null
cat >/dev/null
# Numbers are given out and taken back one at a time.
exec 9>"$runs.lock"
flock 9
clean_up "$number"
