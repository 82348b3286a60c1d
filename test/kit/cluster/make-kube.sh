#!/bin/bash
# make-kube.sh FOLDER : builds kube-apiserver and kube-controller-manager 1.20.2 from Debian's source package "kubernetes" with
# Debian's Go and puts them into FOLDER beside a copy of Debian's etcd. Needs root and apt; 6 to 10 minutes on two cores, once.
# Progress goes to the error output. Two runs at once do not build twice: the second waits for the first.
# Debian's Go (1.19) is newer than this Kubernetes knows: the JSON library in it walks over maps in a way that changed with
# Go 1.18, so that kube-apiserver dies when a custom resource is created. fix_map_iteration fixes that.
set -euo pipefail
version=1.20.2
folder=$(readlink -m "$1")
start=$(date +%s)
say() { echo "kube $version: $* ($(($(date +%s) - start)) s)" >&2; }
fail() { echo "kube $version: $1" >&2; exit 1; }
complete() { [ -x "$folder/kube-apiserver" ] && [ -x "$folder/kube-controller-manager" ] && [ -x "$folder/etcd" ]; }

# Go 1.18 wants the iterator from its caller instead of making one.
fix_map_iteration() {
  local reflect2=vendor/github.com/modern-go/reflect2
  sed -i -e 's/^func mapiterinit(.*/func mapiterinit(rtype unsafe.Pointer, m unsafe.Pointer, it *hiter)/' \
    -e 's/\/\/ rest fields are ignored/rest [6]unsafe.Pointer\n\tmore [4]uintptr/' "$reflect2/unsafe_link.go"
  sed -i 's/mapiterinit(type2.rtype, /newIterator(type2.rtype, /' "$reflect2/unsafe_map.go"
  printf '%s\n' '' 'func newIterator(rtype unsafe.Pointer, m unsafe.Pointer) *hiter {' \
    '	it := new(hiter)' '	mapiterinit(rtype, m, it)' '	return it' '}' >>"$reflect2/unsafe_map.go"
}

mkdir -p "$folder"
exec 9>"$folder.lock"
flock --nonblock 9 || { say "another run is building; waiting for it"; flock 9; }
if complete; then exit 0; fi

command -v apt-get >/dev/null || fail "apt-get is missing: the build needs Debian or a relative of it"
[ "$(id -u)" = 0 ] || fail "not root: run 'sudo $0 $folder' once, or set KUBEBUILDER_ASSETS"
mirror=$(grep -hoE '^URIs: \S+' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -1 | cut -d' ' -f2 || true)
[ -n "$mirror" ] || mirror=$(grep -hE '^deb ' /etc/apt/sources.list 2>/dev/null | grep -oE 'https?://\S+' | head -1 || true)
[ -n "$mirror" ] || fail "neither /etc/apt/sources.list.d/debian.sources nor /etc/apt/sources.list names a Debian mirror"
work=$folder.build
mkdir -p "$work/lists/partial"
trap 'rm -rf "$work"; kill %1 2>/dev/null || true' EXIT

say "installing Go, etcd and tools"
apt-get install -y --no-install-recommends golang-go etcd-server rsync jq make gcc libc6-dev dpkg-dev >"$work/apt.log" 2>&1 ||
  { apt-get update -qq && apt-get install -y --no-install-recommends golang-go etcd-server rsync jq make gcc libc6-dev dpkg-dev; } \
    >"$work/apt.log" 2>&1 || { tail -5 "$work/apt.log" >&2; fail "apt-get install failed: the Debian mirror must be reachable"; }

go version | grep -qE 'go1\.(18|19|20|21|22)' || fail "$(go version) cannot build it: Go 1.18 to 1.22 is needed, as in Debian 12"

say "fetching the source"
cat >"$work/src.sources" <<SOURCES
Types: deb-src
URIs: $mirror
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
apt=(apt-get -o "Dir::Etc::sourcelist=$work/src.sources" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::lists=$work/lists" -o APT::Sandbox::User=root)
cd "$work"
"${apt[@]}" update -qq && "${apt[@]}" source --download-only -qq kubernetes >"$work/source.log" 2>&1 ||
  fail "the source package cannot be fetched: the Debian mirror must be reachable"
tar xzf kubernetes_*.orig.tar.gz

say "building (6 to 10 minutes on two cores)"
(while sleep 30 && kill -0 $$ 2>/dev/null; do say "still building"; done) 9>&- &
export GO111MODULE=off GOPATH="$work/gopath" GOCACHE="$work/gocache" FORCE_HOST_GO=y
export KUBE_GIT_TREE_STATE=clean KUBE_GIT_VERSION=v$version KUBE_GIT_COMMIT=debian KUBE_GIT_MAJOR=1 KUBE_GIT_MINOR=20
mkdir -p "$GOPATH/src/k8s.io"
ln -sfn "$work/kubernetes-$version" "$GOPATH/src/k8s.io/kubernetes"
cd "$GOPATH/src/k8s.io/kubernetes"
fix_map_iteration
make WHAT="cmd/kube-apiserver cmd/kube-controller-manager" >"$folder/build.log" 2>&1 ||
  { tail -15 "$folder/build.log" >&2; fail "the build failed, see $folder/build.log"; }
install -m 755 _output/local/bin/linux/amd64/kube-apiserver _output/local/bin/linux/amd64/kube-controller-manager "$folder/"
cp -f "$(readlink -f "$(command -v etcd)")" "$folder/etcd"
say "done"
