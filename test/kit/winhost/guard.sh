#!/bin/bash
# guard.sh RUNS : gives one run of tests its own network and folder, named by a number N: bridge wmcowN with the address
# 10.99.N.1/24, folder RUNS/N. Prints N and then waits until its input ends: the test process is gone then, after
# its end or a crash, and all of the run is removed. It first removes what runs left whose guards were killed as well.
# A run is alive while its guard holds the lock RUNS/N.lock; who gives out a number or takes one back holds RUNS.lock. Bridges
# are for the whole machine, folders for one user, so a bridge carries the folder it belongs to as its alias.
set -u
runs=$1

lock() {
  exec 9>"$runs.lock"
  flock --timeout 120 9 && return 0
  echo "winhost: another process has held $runs.lock for two minutes" >&2
  exit 1
}

# Ends the hosts of a run. A host is the tree below a process "unshare" whose command line names the folder of the run; killing
# the first process inside, which Linux counts as switching off, takes all others along before "unshare" ends.
end_hosts() {
  local process pid name init turn
  for process in /proc/[0-9]*; do
    read -r name 2>/dev/null <"$process/comm" && [ "$name" = unshare ] || continue
    grep -qzF -- "$runs/$1/" "$process/cmdline" 2>/dev/null || continue
    pid=${process#/proc/}
    init=$(cat "$process/task/$pid/children" 2>/dev/null)
    kill -9 ${init:-$pid} 2>/dev/null
    for turn in $(seq 200); do [ -e "$process" ] && sleep 0.05 || break; done
  done
}

# The alias of a bridge names its folder: another user of this machine may keep runs in another one.
our_bridges() {
  ip -o link show type bridge | grep -F " alias $runs" | grep -oE 'wmcow[0-9]+:' | tr -dc '0-9\n'
}

clean_up() {
  local link
  end_hosts "$1"
  if our_bridges | grep -qx "$1"; then
    for link in $(ip -o link show | grep -oE "wmcow$1(h[0-9]+)?[@:]" | tr -d '@:'); do ip link del "$link" 2>/dev/null; done
  fi
  # A process that is being killed may still write; a second try is enough.
  rm -rf "${runs:?}/$1" 2>/dev/null || { sleep 1; rm -rf "${runs:?}/$1"; }
  rm -f "$runs/$1.lock"
}

sweep() {
  local number
  for number in $({ ls "$runs"; our_bridges; } | grep -oE '^[0-9]+' | sort -un); do
    exec 8>>"$runs/$number.lock"
    flock --nonblock 8 && clean_up "$number"
    exec 8>&-
  done
}

choose_number() {
  for number in $(seq 254); do
    exec 8>>"$runs/$number.lock"
    flock --nonblock 8 || continue
    [ -z "$(ip -4 route show root "10.99.$number.0/24")" ] && ip link add "wmcow$number" type bridge 2>/dev/null &&
      ip link set "wmcow$number" alias "$runs" && return 0
    rm -f "$runs/$number.lock"
  done
  echo "winhost: none of the networks 10.99.1.0/24 to 10.99.254.0/24 is free" >&2
  exit 1
}

# A function, so that the shell has read all of it before it waits: the file may be edited meanwhile.
main() {
  trap '' INT TERM HUP
  mkdir -p "$runs"
  lock
  sweep
  choose_number
  # A bridge of which the address is not set takes that of its newest member, and hosts would use the old one.
  ip link set "wmcow$number" address "02:99:00:00:00:$(printf %02x "$number")" up
  ip addr add "10.99.$number.1/24" dev "wmcow$number"
  mkdir -p "$runs/$number"
  exec 9>&-
  echo "$number"
  exec >/dev/null
  cat >/dev/null
  lock
  clean_up "$number"
  exit 0
}
main
