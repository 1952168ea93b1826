# Stands for a database: takes a moment to end cleanly.
trap 'echo "database: closing"; exit 0' TERM
echo "database: open"
while :; do sleep 0.2; done
