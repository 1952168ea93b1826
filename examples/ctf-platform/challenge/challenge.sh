#!/bin/sh
# A challenge that answers one visitor after the other, and hangs for good as soon as somebody asks for /hang.
while ! test -e /tmp/hung; do nc -l -p 8080 -e /answer.sh; done
exec sleep 1000000
