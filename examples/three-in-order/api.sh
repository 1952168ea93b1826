# Stands for a server. It looks for a file called "break" and dies of it, so that you can make it crash.
trap 'echo "api: bye"; exit 0' TERM
echo "api: listening on port $1, log level $LOG_LEVEL"
while :; do
  if [ -e break ]; then
    code=$(cat break)
    rm break
    echo "api: found a file called break, exit code ${code:-1}" >&2
    exit "${code:-1}"
  fi
  sleep 0.2
done
