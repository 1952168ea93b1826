/*
 * `keepwell-launcher launcher RUNS PLACE`: makes run directories and shims for a daemon, one per request on descriptor 3, until that
 * ends. `keepwell-launcher shim RUNS RUN`: is the shim of one request on descriptor 3 itself, for when there is no launcher.
 * `keepwell-launcher version`: says what it is. RUNS is there for people, and for whoever looks for the processes of a project.
 */
#include "shim.h"

#define VERSION "keepwell-launcher 1\n"

enum { CHANNEL = 3, BROKEN = 2 };
/** Arguments. */
enum { MODE = 1, RUNS, PLACE, ARGUMENTS };

// The compiler may ask for these two even where there is no libc.
void *memcpy(void *to, const void *from, u64 size) {
  for (u64 i = 0; i < size; i++) ((u8 *)to)[i] = ((const u8 *)from)[i];
  return to;
}
void *memset(void *to, int value, u64 size) {
  for (u64 i = 0; i < size; i++) ((u8 *)to)[i] = (u8)value;
  return to;
}

static void answer(const char *text, u64 size) {
  while (size > 0) {
    i64 wrote = sys_write(CHANNEL, text, size);
    if (wrote == -EAGAIN) {
      struct pollfd one = {CHANNEL, POLLOUT, 0};
      sys_poll(&one);
    } else if (wrote > 0) {
      text += wrote;
      size -= (u64)wrote;
    } else if (wrote != -EINTR) sys_exit(BROKEN); // the daemon is gone
  }
}

/** `ok NUMBER`, or `no NUMBER STEP ERRNO`. */
static void answer_request(const struct request *r, const struct failure *failure) {
  char line[256];
  const char *end = line + sizeof line - 1;
  char *at = put(put(line, end, failure->error < 0 ? "no " : "ok "), end, r->number);
  if (failure->error < 0) at = put_number(put(put(put(at, end, " "), end, failure->step), end, " "), end, -failure->error);
  at = put(at, end, "\n");
  answer(line, (u64)(at - line));
}

/** Over what the launcher was called with, so that everybody can see from the outside whose shim this is. */
static void rename_self(char **argv, const char *run) {
  const char *end = argv[PLACE] + length_of(argv[PLACE]);
  if (length_of(run) > length_of(argv[PLACE])) sys_exit(BROKEN);
  // The kernel has put them one behind the other. What is written ends before the place that is read next.
  char *at = put(argv[MODE], end, "shim") + 1;
  at = put(at, end, argv[RUNS]) + 1;
  at = put(at, end, run);
  while (at < end) *at++ = 0;
  sys_prctl(PR_SET_NAME, (u64) "keepwell-shim");
}

static void launch(char **argv, struct request *r) {
  struct run_dir run;
  struct failure failure = {0, 0};
  if (make_run_dir(r, &run, &failure)) {
    i64 pid = sys_fork();
    if (pid == 0) {
      sys_close(CHANNEL);
      be_deaf();
      rename_self(argv, r->run);
      run_shim(r, &run);
    }
    failure = (struct failure){"fork", pid};
    close_run_dir(&run);
  }
  answer_request(r, &failure);
  forget_request(r);
}

static void be_launcher(char **argv) {
  const struct sigaction ignored = {SIG_IGN, 0, 0, 0};
  const u64 all = ~0UL;
  struct request request;
  sys_sigmask(&all); // its end is the end of the daemon, and of nobody else
  sys_sigaction(SIGCHLD, &ignored); // shims need not be waited for then
  sys_prctl(PR_SET_PDEATHSIG, SIGKILL);
  sys_prctl(PR_SET_NAME, (u64) "keepwell-launch");
  answer("ready 1\n", 8);
  int read;
  while ((read = read_request(CHANNEL, &request)) == REQUEST_READ) launch(argv, &request);
  sys_exit(read == REQUEST_END ? 0 : BROKEN);
}

static void be_shim(void) {
  struct request request;
  struct run_dir run;
  be_deaf();
  sys_prctl(PR_SET_NAME, (u64) "keepwell-shim");
  if (read_request(CHANNEL, &request) != REQUEST_READ || !open_run_dir(&request, &run)) sys_exit(BROKEN);
  sys_close(CHANNEL);
  run_shim(&request, &run);
}

__attribute__((used, noreturn)) void begin(u64 *stack) {
  int argc = (int)stack[0];
  char **argv = (char **)(stack + 1);
  if (argc == ARGUMENTS && equal(argv[MODE], "launcher")) be_launcher(argv);
  if (argc == ARGUMENTS && equal(argv[MODE], "shim")) be_shim();
  if (argc == 2 && equal(argv[MODE], "version")) sys_exit(sys_write(1, VERSION, sizeof VERSION - 1) < 0);
  sys_exit(BROKEN);
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call begin\n");
#else
__asm__(".globl _start\n_start:\n  mov x29, 0\n  mov x30, 0\n  mov x0, sp\n  bl begin\n");
#endif
