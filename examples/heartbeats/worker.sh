# Does a piece of work every second, and hangs after five. A child of it goes on talking.
(while :; do echo "metrics: still here"; sleep 1; done) &
for piece in 1 2 3 4 5; do
  echo "done: piece $piece"
  sleep 1
done
exec sleep 100000
