# Stands for a program with a start script of its own: it puts itself in the background and writes down its pid.
cd "$(dirname "$0")" || exit 1

stop() {
  [ -f legacy.pid ] || return 0
  kill "$(cat legacy.pid)" 2>/dev/null
  rm -f legacy.pid
}

start() {
  setsid sh -c 'while :; do sleep 1; done' </dev/null >/dev/null 2>&1 &
  echo $! >legacy.pid
  echo "legacy: started as $!"
}

case "$1" in
  start) start ;;
  stop) stop ;;
  restart) stop; start ;;
  *) echo "usage: legacy.sh start|stop|restart" >&2; exit 2 ;;
esac
