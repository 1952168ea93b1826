# An agent that hangs: after three steps it waits for an answer that never comes, like a call without a timeout.
for step in 1 2 3; do
  echo "step $step of $2"
  sleep 1
done
exec sleep 3600
