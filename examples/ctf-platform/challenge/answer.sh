#!/bin/sh
# Answers one request: what comes in is its input, what it prints goes out.
read -r method path version
while read -r line && test "${line%?}"; do :; done
case $path in
  /hang)
    touch /tmp/hung
    text='This challenge hangs now. Nobody has to notice by hand.'
    ;;
  *) text="Find the flag. This container is yours alone: $(hostname)" ;;
esac
printf 'HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n%s\n' "$text"
