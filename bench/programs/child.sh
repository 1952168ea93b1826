# The component of every measurement but the log's: says that it lives, then does nothing.
# arguments: announcement-fifo fleet name
echo "$2 $3 $$" >"$1"
exec sleep 1000000
