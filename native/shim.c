#include "shim.h"
#include "command.h"

/** Exit code of a shim that may not, or cannot, begin its run. */
enum { NOT_CLAIMED = 111 };
enum { LINE_BYTES = 256, MESSAGE_BYTES = 1000, SIGNAL_BASE = 128, CORE_DUMPED = 0x80 };
/** An end is tried to be recorded for about a minute; by then the daemon knows it from the FIFO, or the disk is gone. */
enum { RECORD_TRIES = 64, FIRST_PAUSE_MS = 10, LONGEST_PAUSE_MS = 1000 };

void be_deaf(void) {
  const struct sigaction usual = {SIG_DFL, 0, 0, 0};
  const u64 all = ~0UL;
  sys_sigmask(&all);
  // The launcher ignores it, and then there would be nothing to wait for: nobody would know how the run ended.
  if (sys_sigaction(SIGCHLD, &usual) < 0) sys_exit(NOT_CLAIMED);
  sys_setsid();
}

/** SIGALRM cuts it short: for tests, which need not wait as long as they say. */
static void pause_ms(i64 ms) {
  const u64 alarm = 1UL << (SIGALRM - 1);
  const struct timespec limit = {ms / 1000, ms % 1000 * 1000000};
  if (ms > 0)
    while (sys_sigtimedwait(&alarm, &limit) == -EINTR) {}
}

/** By its path and not through the open directory: once that was moved into the trash, nobody may begin it any more. */
static void claim(struct request *r, const struct run_dir *run) {
  char who[32];
  const char *end = who + sizeof who - 1;
  put_number(put(who, end, "shim:"), end, sys_getpid());
  char *path = path_of(r->scratch, r->runs, r->run);
  char *at = path ? path + length_of(path) : 0;
  i64 error = -ENAMETOOLONG;
  if (at && at + sizeof "/claim" <= r->scratch + PATH_BYTES) {
    put(at, r->scratch + PATH_BYTES - 1, "/claim");
    error = sys_symlink(who, path);
  }
  if (error >= 0) return;
  // Another one was first, or the run is over: not a word about that.
  if (error != -EEXIST && error != -ENOENT) complain(run->err, r->scratch2, "the claim could not be made", "", error);
  sys_exit(NOT_CLAIMED);
}

/**
 * Waits until the fork has executed the program or has ended; so whoever hears of it from here on finds its session, its cookie and
 * its cgroup in place. It is born in its cgroup where the kernel can do that: joining one later takes a hundred times as long.
 */
static i64 start(struct request *r, const struct run_dir *run) {
  struct clone_args args = {.flags = CLONE_VFORK, .exit_signal = SIGCHLD};
  i64 cgroup = *r->cgroup ? sys_openat(AT_FDCWD, r->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) : -1;
  i64 pid = -1;
  if (cgroup >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = (u64)cgroup;
    pid = sys_clone3(&args);
    if (pid == 0) become_command(r, run, 1);
    sys_close((int)cgroup);
  }
  // Where it cannot be born there it joins by itself; where no process can be had at all, this fails as well.
  if (pid < 0) pid = SYS1(clone, CLONE_VFORK | SIGCHLD);
  if (pid == 0) become_command(r, run, 0);
  return pid;
}

/** What the fork said before it gave up; empty: it said nothing, so it has executed its program. */
static char *read_complaint(const struct run_dir *run, char *message) {
  i64 size = sys_pread(run->err, message, MESSAGE_BYTES - 1, 0);
  char *at = message;
  if (size > 0 && *message != ' ')
    for (; at < message + size && *at != '\n'; at++) {}
  *at = 0;
  return message;
}

static void tell(const struct run_dir *run, const char *text, const char *end) {
  sys_write(run->fifo, text, (u64)(end - text)); // only a hint: who misses it finds the same in the files
}

static void tell_started(const struct run_dir *run) {
  char line[LINE_BYTES];
  const char *end = line + sizeof line - 1;
  char *at = put(line, end, "started ");
  i64 size = sys_pread(run->pid, at, (u64)(end - at), 0);
  if (size <= 0 || *at == ' ') return;
  for (char *last = at + size; at < last; at++)
    if (*at == '\n') return tell(run, line, at + 1);
}

/** `exit CODE WORDS`: words only after a death by signal, or when the program was never executed. */
static char *put_exit(char *to, const char *end, int status, const char *complaint) {
  int signal = status & 0x7f;
  to = put(to, end, "exit ");
  to = put_number(to, end, signal ? SIGNAL_BASE + signal : status >> 8 & 0xff);
  to = put(put(to, end, " "), end, complaint);
  if (signal) to = put_number(put(to, end, "signal "), end, signal);
  if (signal && status & CORE_DUMPED) to = put(to, end, " (core dumped)");
  return put(to, end, "\n");
}

static i64 micros(const struct timeval *time) { return time->seconds * 1000000 + time->microseconds; }

/** `wait STATUS MAX-RSS-KIB USER-US SYSTEM-US`: what the kernel said, to the bit. */
static char *put_wait(char *to, const char *end, int status, const struct rusage *used) {
  const i64 values[] = {status, used->max_rss_kib, micros(&used->user), micros(&used->system)};
  to = put(to, end, "wait");
  for (u64 i = 0; i < sizeof values / sizeof *values; i++) to = put_number(put(to, end, " "), end, values[i]);
  return put(to, end, "\n");
}

static i64 longer(i64 pause) { return pause * 2 < LONGEST_PAUSE_MS ? pause * 2 : LONGEST_PAUSE_MS; }

/** Its space was reserved, so a full disk is no reason to fail; what is, may pass. */
static void record(const struct run_dir *run, const char *text, const char *end) {
  i64 pause = FIRST_PAUSE_MS;
  for (int tries = 0; tries < RECORD_TRIES; tries++) {
    i64 done = sys_pwrite(run->exit, text, (u64)(end - text), 0);
    if (done == end - text) done = sys_renameat(run->dir, "exit.tmp", run->dir, "exit");
    else if (done >= 0) done = -ENOSPC;
    if (done >= 0 || done == -ENOENT) return; // not there: the daemon knows already, and has deleted it
    pause_ms(pause);
    pause = longer(pause);
  }
}

/** Whatever it is that fails may pass; only a child that is not there any more has nothing left to tell. */
static void await_end(int pid, int *status, struct rusage *used) {
  for (i64 pause = FIRST_PAUSE_MS;; pause = longer(pause)) {
    i64 ended = sys_wait4(pid, status, used);
    if (ended >= 0) return;
    if (ended == -ECHILD) sys_exit(NOT_CLAIMED); // and the daemon says that nobody saw the end
    if (ended != -EINTR) pause_ms(pause);
  }
}

void run_shim(struct request *r, struct run_dir *run) {
  const i64 before_telling = r->delays[BEFORE_TELLING];
  const i64 before_record = r->delays[BEFORE_RECORD];
  pause_ms(r->delays[BEFORE_CLAIM]);
  claim(r, run);
  pause_ms(r->delays[BEFORE_START]);
  i64 pid = start(r, run);
  if (pid < 0) complain(run->err, r->scratch2, "fork", "", pid);
  forget_request(r); // what stays for as long as the command lives is as small as it can be

  char message[MESSAGE_BYTES];
  int status = CANNOT_BEGIN << 8;
  struct rusage used = {0};
  if (pid > 0) {
    if (!*read_complaint(run, message)) tell_started(run);
    await_end((int)pid, &status, &used);
  }
  pause_ms(before_telling);

  // The daemon takes the line `exit` for the end of it, so that comes last in the FIFO and first in the file.
  const char *complaint = read_complaint(run, message);
  char text[MESSAGE_BYTES + 2 * LINE_BYTES];
  const char *end = text + sizeof text - 1;
  char *at = *complaint ? text : put_wait(text, end, status, &used);
  tell(run, text, put_exit(at, end, status, complaint));
  pause_ms(before_record);
  at = put_exit(text, end, status, complaint);
  if (!*complaint) at = put_wait(at, end, status, &used);
  record(run, text, at);
  sys_exit(0);
}
