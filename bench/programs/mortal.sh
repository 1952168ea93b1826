# The component that ends with code 42 when it gets SIGUSR1. Arguments: announcement-fifo fleet name
trap 'kill $!; exit 42' USR1
trap 'kill $!; exit 0' TERM INT
sleep 1000000 &
echo "$2 $3 $$" >"$1"
wait
