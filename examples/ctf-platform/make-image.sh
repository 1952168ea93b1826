#!/bin/sh
# Makes the image "ctf-example" from nothing but a static busybox and the two scripts of the challenge. No Dockerfile, no download.
set -eu
cd "$(dirname "$0")"
busybox=$(command -v busybox) || { echo 'busybox is missing: apt install busybox-static' >&2; exit 1; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
mkdir "$root/bin" "$root/tmp"
cp "$busybox" "$root/bin/busybox"
for name in $("$busybox" --list); do
  test "$name" = busybox || ln -s busybox "$root/bin/$name"
done
cp challenge/*.sh "$root/"
chmod 755 "$root"/*.sh
tar -C "$root" -c . | docker import --change 'CMD ["/challenge.sh"]' - ctf-example
