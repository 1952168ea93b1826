#include "command.h"

/** What fits into `err` without a new disk block. */
enum { MAX_WORDS = 1000, STAT_BYTES = 1024 };

void complain(int err, char *scratch, const char *first, const char *second, i64 error) {
  const char *end = scratch + MAX_WORDS;
  const char *words = words_of(error);
  char *at = put(put(scratch, end, first), end, second);
  if (error < 0) {
    if (at > scratch) at = put(at, end, ": ");
    at = words ? put(at, end, words) : put_number(put(at, end, "error "), end, -error);
  }
  at = put(at, end + 1, "\n");
  sys_pwrite(err, scratch, (u64)(at - scratch), 0);
}

struct child { struct request *r; const struct run_dir *run; };

static void give_up(struct child *child, int code, const char *first, const char *second, i64 error) __attribute__((noreturn));
static void give_up(struct child *child, int code, const char *first, const char *second, i64 error) {
  // The scratch may hold one of the texts; the second buffer never does when this is called.
  complain(child->run->err, child->r->scratch2, first, second, error);
  sys_exit(code);
}

static void must(struct child *child, int code, const char *what, i64 result) {
  if (result < 0) give_up(child, code, what, "", result);
}

static i64 write_zero(const char *path) {
  i64 fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
  if (fd < 0) return fd;
  i64 wrote = sys_write((int)fd, "0", 1);
  sys_close((int)fd);
  return wrote;
}

static i64 join(struct child *child, const char *cgroup) {
  const char *path = path_of(child->r->scratch, cgroup, "cgroup.procs");
  return path ? write_zero(path) : -ENAMETOOLONG;
}

static void open_output(struct child *child) {
  struct request *r = child->r;
  // Whoever writes the log may be somebody else than its opener: that one must not be led astray by a link.
  int careful = r->uid == NOT_GIVEN ? 0 : O_NOFOLLOW;
  // Not blocking, because a FIFO that nobody reads would hold this up for ever; the command gets it as any other file.
  i64 log = sys_openat(AT_FDCWD, r->log, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_NONBLOCK | O_CLOEXEC | careful, 0600);
  must(child, NO_LOG, "", log);
  must(child, NO_LOG, "", sys_set_flags((int)log, O_APPEND));
  i64 nothing = sys_openat(AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0);
  must(child, NO_LOG, "/dev/null", nothing);
  must(child, NO_LOG, "stdin", sys_dup_to((int)nothing, 0));
  must(child, NO_LOG, "stdout", sys_dup_to((int)log, 1));
  must(child, NO_LOG, "stderr", sys_dup_to((int)log, 2));
}

static void set_soft(int which, u64 value) {
  struct rlimit limit;
  if (sys_prlimit(which, 0, &limit) < 0) return;
  limit.soft = value;
  sys_prlimit(which, &limit, 0); // more than it may have: then it keeps what it has
}

static void must_limit(struct child *child, const char *what, int which, i64 value) {
  if (value == NOT_GIVEN) return;
  struct rlimit limit = {(u64)value, (u64)value};
  must(child, CANNOT_BE_BOUND, what, sys_prlimit(which, &limit, 0));
}

/** Whether it is in the cgroup of its tree in the end. */
static int join_all(struct child *child, int in_cgroup) {
  struct request *r = child->r;
  if (!in_cgroup && *r->cgroup) in_cgroup = join(child, r->cgroup) >= 0;
  if (!in_cgroup && r->needs_tree != NOT_GIVEN)
    give_up(child, CANNOT_BE_BOUND, "its cgroup could not be joined", "", 0);
  for (char **each = r->joins; *each; each++) {
    i64 joined = join(child, *each);
    if (joined < 0) give_up(child, CANNOT_BE_BOUND, *each, "/cgroup.procs", joined);
  }
  return in_cgroup;
}

static void become_account(struct child *child) {
  struct request *r = child->r;
  if (r->groups) must(child, CANNOT_BEGIN, "account: setgroups", sys_setgroups(r->group_count, r->groups));
  if (r->gid != NOT_GIVEN) must(child, CANNOT_BEGIN, "account: setgid", sys_setresgid((u32)r->gid));
  if (r->uid != NOT_GIVEN) must(child, CANNOT_BEGIN, "account: setuid", sys_setresuid((u32)r->uid));
}

/** Its pid and its start time as /proc has them: `PID START`. False: they cannot be read. */
static char *put_identity(struct child *child, char *to, const char *end) {
  char *stat = child->r->scratch;
  i64 fd = sys_openat(AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);
  must(child, CANNOT_BEGIN, "pid: /proc/self/stat", fd);
  i64 size = sys_read((int)fd, stat, STAT_BYTES - 1);
  must(child, CANNOT_BEGIN, "pid: /proc/self/stat", size);
  sys_close((int)fd);
  stat[size] = 0;
  // The name stands in parentheses and may hold anything, so fields are counted from behind the last one; the state is number 3.
  char *at = stat + size;
  while (at > stat && *at != ')') at--;
  for (int field = 2; field < 22 && *at; at++) field += *at == ' ';
  char *start = at;
  while (*at >= '0' && *at <= '9') at++;
  if (at == start) give_up(child, CANNOT_BEGIN, "pid: /proc/self/stat cannot be understood", "", 0);
  *at = 0;
  for (at = stat; *at >= '0' && *at <= '9'; at++) {}
  *at = 0;
  return put(put(put(to, end, stat), end, " "), end, start);
}

/** Nobody could find it later without this, so it does not begin without it. */
static void write_pid(struct child *child, int in_cgroup) {
  char line[128];
  const char *end = line + sizeof line - 1;
  char *at = put_identity(child, line, end);
  at = put(at, end, in_cgroup ? " cgroup\n" : " -\n");
  i64 wrote = sys_pwrite(child->run->pid, line, (u64)(at - line), 0);
  must(child, CANNOT_BEGIN, "pid", wrote == at - line ? 0 : wrote < 0 ? wrote : -ENOSPC);
}

static void clean_signals(void) {
  const struct sigaction usual = {SIG_DFL, 0, 0, 0};
  const u64 none = 0;
  for (int signal = 1; signal <= SIGNALS; signal++) sys_sigaction(signal, &usual);
  sys_sigmask(&none);
}

/** Returns only with an error. What is no program is a script for the shell, as for every execvp(3). */
static i64 execute_file(struct request *r, char *path) {
  i64 error = sys_execve(path, r->argv, r->env);
  if (error != -ENOEXEC) return error;
  char **argv = r->argv - 1;
  argv[0] = r->shell;
  argv[1] = path;
  return sys_execve(r->shell, argv, r->env);
}

static const char *path_variable(char **env) {
  for (; *env; env++) {
    const char *name = "PATH=";
    const char *at = *env;
    while (*name && *name == *at) name++, at++;
    if (!*name) return at;
  }
  return "/bin:/usr/bin";
}

/** As execvp(3) does: in the PATH the command itself will have, passing over what cannot be executed. */
static i64 execute(struct request *r) {
  char *name = r->argv[0];
  for (const char *at = name; *at; at++)
    if (*at == '/') return execute_file(r, name);
  int was_denied = 0;
  for (const char *dir = path_variable(r->env);; dir++) {
    char *to = r->scratch;
    const char *end = to + PATH_BYTES - 1;
    while (*dir && *dir != ':' && to < end) *to++ = *dir++;
    if (to > r->scratch) to = put(to, end, "/");
    i64 error = to + length_of(name) > end ? -ENAMETOOLONG : (put(to, end, name), execute_file(r, r->scratch));
    if (error == -EACCES) was_denied = 1;
    else if (error != -ENOENT && error != -ENOTDIR && error != -ESTALE && error != -ENODEV && error != -ETIMEDOUT &&
             error != -ENAMETOOLONG)
      return error;
    while (*dir && *dir != ':') dir++;
    if (!*dir) return was_denied ? -EACCES : -ENOENT;
  }
}

void become_command(struct request *r, const struct run_dir *run, int in_cgroup) {
  struct child child = {r, run};
  sys_setsid();
  open_output(&child);
  if (r->soft_nofile != NOT_GIVEN) set_soft(RLIMIT_NOFILE, (u64)r->soft_nofile);
  set_soft(RLIMIT_CORE, 0);
  if (r->nice != NOT_GIVEN) must(&child, CANNOT_BE_BOUND, "nice", sys_setpriority((int)r->nice));
  in_cgroup = join_all(&child, in_cgroup);
  if (r->umask != NOT_GIVEN) sys_umask((int)r->umask);
  must(&child, CANNOT_BEGIN, "cwd", sys_chdir(r->cwd));
  must_limit(&child, "memory", RLIMIT_DATA, r->data_bytes);
  must_limit(&child, "processes", RLIMIT_NPROC, r->processes);
  write_pid(&child, in_cgroup);
  must_limit(&child, "open files", RLIMIT_NOFILE, r->nofile);
  become_account(&child);
  clean_signals();
  i64 error = execute(r);
  // Nothing is to be executed any more, and what is to be said must not be lost to a signal.
  give_up(&child, CANNOT_BEGIN, "exec", "", error);
}
