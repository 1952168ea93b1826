# The component that hangs: whoever asks it to end is not heard. Arguments: announcement-fifo fleet name
trap '' TERM INT HUP
echo "$2 $3 $$" >"$1"
exec sleep 1000000
