#!/bin/bash
# Builds what the lab needs from Debian's packages, into DIR/bin: etcd and kubectl as they are, Kubernetes 1.20 from its source with Debian's Go.
# About 20 minutes on one core, 2 GB on disk. Touches nothing outside DIR but the packages golang-1.19-go, rsync and make, which it installs.
#   scripts/kubernetes/build.sh DIR
set -eu
out=$(realpath -m "${1:?usage: build.sh DIR}")
mkdir -p "$out"/{src,lists/partial,cache/archives/partial,bin}
cd "$out"
sed -E 's/^Types: deb$/Types: deb deb-src/' /etc/apt/sources.list.d/debian.sources >debian.sources
apt=(-o "Dir::Etc::sourcelist=$out/debian.sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$out/lists" -o "Dir::Cache=$out/cache")
apt-get "${apt[@]}" update
(cd cache && apt-get "${apt[@]}" download etcd-server kubernetes-client)
for package in cache/*.deb; do dpkg -x "$package" deb; done
cp deb/usr/bin/etcd deb/usr/bin/kubectl bin/
apt-get "${apt[@]}" install -y --no-install-recommends golang-1.19-go rsync make dpkg-dev
(cd src && apt-get "${apt[@]}" source --download-only kubernetes && tar xf kubernetes_*.orig.tar.*)
cd src/kubernetes-*/
export GOROOT=/usr/lib/go-1.19 CGO_ENABLED=0
export PATH=$GOROOT/bin:$PATH
for program in kube-apiserver kubelet kube-controller-manager kube-scheduler; do
  make WHAT="cmd/$program"
  cp _output/local/bin/linux/*/"$program" "$out/bin/"
done
