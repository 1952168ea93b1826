"""A program in a terminal of its own: orders come as JSON lines on stdin, what it draws goes to stdout, how it ended to stderr."""
import fcntl, json, os, select, struct, sys, termios

columns, rows, *command = sys.argv[1:]
main, side = os.openpty()


def resize(c, r):
    fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", int(r), int(c), 0, 0))


resize(columns, rows)
before = termios.tcgetattr(side)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(side, termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2):
        os.dup2(side, fd)
    os.closerange(3, 100)
    os.execvp(command[0], command)
sys.stderr.write(json.dumps({"pid": pid}) + "\n")
sys.stderr.flush()
orders, text, code, hung = [0], b"", None, False
while True:
    ready, _, _ = select.select(([] if hung else [main]) + orders, [], [], 0.02)
    if main in ready:
        os.write(1, os.read(main, 65536))
    if 0 in ready:
        read = os.read(0, 65536)
        if not read:
            orders = []
            os.kill(pid, 9)
        text += read
        *lines, text = text.split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "keys" in order:
                os.write(main, order["keys"].encode())
            if "size" in order:
                resize(*order["size"])
            if "hangup" in order:
                os.close(side)
                os.close(main)
                hung = True
    if code is None:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
    elif main not in ready:
        break
restored = None if hung else termios.tcgetattr(side) == before
sys.stderr.write(json.dumps({"code": code, "restored": restored}) + "\n")
