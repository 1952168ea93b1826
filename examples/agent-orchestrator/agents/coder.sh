# An agent that works for a long time.
echo "working on $2"
exec sleep 3600
