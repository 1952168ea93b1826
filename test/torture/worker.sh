# A component for the kill loop: lives 30 to 430 ms, then ends in a random way. Keeps its own ledger, one line a write, so that the
# order of lines is the order of events: begin RUN PID, end RUN code N | signal NAME.
ledger=$1
set -- $(od -An -N4 -tu2 /dev/urandom)
printf 'begin %s %s\n' "$KEEPWELL_RUN" "$$" >> "$ledger"
echo "run $KEEPWELL_RUN says hello"
millis=$((30 + $1 % 400))
sleep "0.$(printf '%03d' "$millis")"
case $(($2 % 8)) in
  0) how="signal SIGKILL" ;;
  1) how="signal SIGTERM" ;;
  2) how="signal SIGSEGV" ;;
  3) how="code 0" ;;
  *) how="code $((1 + $2 % 120))" ;;
esac
echo "run $KEEPWELL_RUN says bye"
printf 'end %s %s\n' "$KEEPWELL_RUN" "$how" >> "$ledger"
case $how in
  "signal SIG"*) kill -"${how#signal SIG}" $$ ;;
  *) exit "${how#code }" ;;
esac
