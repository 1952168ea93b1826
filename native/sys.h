/*
 * The kernel's side of the border: numbers, flags and structures of Linux for the two processors, and one inline function per system
 * call. Nothing here comes from a libc or from kernel headers, so a compiler is all that is needed.
 * Every function returns what the kernel returns: a negative number is an error.
 */
#ifndef KEEPWELL_SYS_H
#define KEEPWELL_SYS_H

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;
typedef long i64;

#if defined(__x86_64__)
enum {
  NR_read = 0, NR_write = 1, NR_close = 3, NR_mmap = 9, NR_munmap = 11, NR_sigaction = 13, NR_sigprocmask = 14, NR_pread = 17,
  NR_pwrite = 18, NR_getpid = 39, NR_clone = 56, NR_execve = 59, NR_wait4 = 61, NR_fcntl = 72, NR_chdir = 80, NR_umask = 95,
  NR_setsid = 112, NR_setgroups = 116, NR_setresuid = 117, NR_setresgid = 119, NR_sigtimedwait = 128, NR_setpriority = 141,
  NR_prctl = 157, NR_exit_group = 231, NR_openat = 257, NR_mkdirat = 258, NR_mknodat = 259, NR_unlinkat = 263, NR_renameat = 264,
  NR_symlinkat = 266, NR_ppoll = 271, NR_dup3 = 292, NR_prlimit = 302, NR_clone3 = 435,
};
enum { O_DIRECTORY = 0200000, O_NOFOLLOW = 0400000 };

static inline i64 syscall6(i64 number, i64 a, i64 b, i64 c, i64 d, i64 e, i64 f) {
  i64 result;
  register i64 r10 __asm__("r10") = d;
  register i64 r8 __asm__("r8") = e;
  register i64 r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
enum {
  NR_dup3 = 24, NR_fcntl = 25, NR_mknodat = 33, NR_mkdirat = 34, NR_unlinkat = 35, NR_symlinkat = 36, NR_renameat = 38, NR_chdir = 49,
  NR_openat = 56, NR_close = 57, NR_read = 63, NR_write = 64, NR_pread = 67, NR_pwrite = 68, NR_ppoll = 73, NR_exit_group = 94,
  NR_sigaction = 134, NR_sigprocmask = 135, NR_sigtimedwait = 137, NR_setpriority = 140, NR_setresuid = 147, NR_setresgid = 149,
  NR_setsid = 157, NR_setgroups = 159, NR_umask = 166, NR_prctl = 167, NR_getpid = 172, NR_munmap = 215, NR_clone = 220,
  NR_execve = 221, NR_mmap = 222, NR_wait4 = 260, NR_prlimit = 261, NR_clone3 = 435,
};
enum { O_DIRECTORY = 040000, O_NOFOLLOW = 0100000 };

static inline i64 syscall6(i64 number, i64 a, i64 b, i64 c, i64 d, i64 e, i64 f) {
  register i64 x8 __asm__("x8") = number;
  register i64 x0 __asm__("x0") = a;
  register i64 x1 __asm__("x1") = b;
  register i64 x2 __asm__("x2") = c;
  register i64 x3 __asm__("x3") = d;
  register i64 x4 __asm__("x4") = e;
  register i64 x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
  return x0;
}
#else
#error "only x86_64 and aarch64"
#endif

enum { O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 0100, O_EXCL = 0200, O_NOCTTY = 0400, O_APPEND = 02000, O_NONBLOCK = 04000 };
enum { O_CLOEXEC = 02000000, O_PATH = 010000000 };
enum { AT_FDCWD = -100, AT_REMOVEDIR = 0x200, S_IFIFO = 0010000, F_SETFL = 4 };
enum { PROT_READ = 1, PROT_WRITE = 2, MAP_PRIVATE = 2, MAP_ANONYMOUS = 0x20 };
enum { SIGKILL = 9, SIGALRM = 14, SIGCHLD = 17, SIGNALS = 64, SIG_DFL = 0, SIG_IGN = 1, SIG_SETMASK = 2 };
enum { PR_SET_PDEATHSIG = 1, PR_SET_NAME = 15 };
enum { RLIMIT_DATA = 2, RLIMIT_CORE = 4, RLIMIT_NPROC = 6, RLIMIT_NOFILE = 7 };
enum { POLLIN = 1, POLLOUT = 4 };
#define CLONE_VFORK 0x4000UL
#define CLONE_INTO_CGROUP 0x200000000UL

enum {
  EPERM = 1, ENOENT = 2, EINTR = 4, EIO = 5, ENXIO = 6, E2BIG = 7, ENOEXEC = 8, ECHILD = 10, EAGAIN = 11, ENOMEM = 12, EACCES = 13, EBUSY = 16,
  EEXIST = 17, ENODEV = 19, ENOTDIR = 20, EISDIR = 21, EINVAL = 22, ENFILE = 23, EMFILE = 24, ETXTBSY = 26, EFBIG = 27, ENOSPC = 28,
  EROFS = 30, ENAMETOOLONG = 36, ENOSYS = 38, ELOOP = 40, ELIBBAD = 80, ETIMEDOUT = 110, ESTALE = 116, EDQUOT = 122,
};

struct timespec { i64 seconds, nanoseconds; };
struct timeval { i64 seconds, microseconds; };
struct rusage { struct timeval user, system; i64 max_rss_kib, others[13]; };
struct rlimit { u64 soft, hard; };
struct pollfd { int fd; short events, revents; };
struct sigaction { u64 handler, flags, restorer, mask; };
/** The first 88 bytes, with which clone3(2) learned of cgroups (Linux 5.7). */
struct clone_args { u64 flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup; };

#define SYS0(name) syscall6(NR_##name, 0, 0, 0, 0, 0, 0)
#define SYS1(name, a) syscall6(NR_##name, (i64)(a), 0, 0, 0, 0, 0)
#define SYS2(name, a, b) syscall6(NR_##name, (i64)(a), (i64)(b), 0, 0, 0, 0)
#define SYS3(name, a, b, c) syscall6(NR_##name, (i64)(a), (i64)(b), (i64)(c), 0, 0, 0)
#define SYS4(name, a, b, c, d) syscall6(NR_##name, (i64)(a), (i64)(b), (i64)(c), (i64)(d), 0, 0)

static inline i64 sys_read(int fd, void *to, u64 size) { return SYS3(read, fd, to, size); }
static inline i64 sys_write(int fd, const void *from, u64 size) { return SYS3(write, fd, from, size); }
static inline i64 sys_pread(int fd, void *to, u64 size, u64 at) { return SYS4(pread, fd, to, size, at); }
static inline i64 sys_pwrite(int fd, const void *from, u64 size, u64 at) { return SYS4(pwrite, fd, from, size, at); }
static inline i64 sys_close(int fd) { return SYS1(close, fd); }
static inline i64 sys_openat(int dir, const char *path, int flags, int mode) { return SYS4(openat, dir, path, flags, mode); }
static inline i64 sys_mkdir(const char *path, int mode) { return SYS3(mkdirat, AT_FDCWD, path, mode); }
static inline i64 sys_mkfifoat(int dir, const char *name, int mode) { return SYS4(mknodat, dir, name, S_IFIFO | mode, 0); }
static inline i64 sys_unlinkat(int dir, const char *name, int flags) { return SYS3(unlinkat, dir, name, flags); }
static inline i64 sys_renameat(int from, const char *old, int to, const char *name) { return SYS4(renameat, from, old, to, name); }
static inline i64 sys_symlink(const char *target, const char *path) { return SYS3(symlinkat, target, AT_FDCWD, path); }
static inline i64 sys_dup_to(int fd, int to) { return SYS3(dup3, fd, to, 0); }
static inline i64 sys_set_flags(int fd, int flags) { return SYS3(fcntl, fd, F_SETFL, flags); }
static inline i64 sys_chdir(const char *path) { return SYS1(chdir, path); }
static inline i64 sys_map(u64 size) {
  return syscall6(NR_mmap, 0, (i64)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static inline i64 sys_unmap(void *at, u64 size) { return SYS2(munmap, at, size); }
/** A fork: with these flags both kernels agree about the order of what is left at 0. */
static inline i64 sys_fork(void) { return SYS1(clone, SIGCHLD); }
static inline i64 sys_clone3(struct clone_args *args) { return SYS2(clone3, args, sizeof *args); }
static inline i64 sys_execve(const char *path, char *const *argv, char *const *env) { return SYS3(execve, path, argv, env); }
static inline i64 sys_wait4(int pid, int *status, struct rusage *usage) { return SYS4(wait4, pid, status, 0, usage); }
static inline i64 sys_getpid(void) { return SYS0(getpid); }
static inline i64 sys_setsid(void) { return SYS0(setsid); }
static inline i64 sys_umask(int mask) { return SYS1(umask, mask); }
static inline i64 sys_setpriority(int nice) { return SYS3(setpriority, 0, 0, nice); }
static inline i64 sys_setgroups(u64 count, const u32 *groups) { return SYS2(setgroups, count, groups); }
static inline i64 sys_setresgid(u32 gid) { return SYS3(setresgid, gid, gid, gid); }
static inline i64 sys_setresuid(u32 uid) { return SYS3(setresuid, uid, uid, uid); }
static inline i64 sys_prctl(int option, u64 value) { return SYS2(prctl, option, value); }
static inline i64 sys_prlimit(int which, const struct rlimit *set, struct rlimit *get) { return SYS4(prlimit, 0, which, set, get); }
static inline i64 sys_sigaction(int signal, const struct sigaction *act) { return SYS4(sigaction, signal, act, 0, sizeof act->mask); }
static inline i64 sys_sigmask(const u64 *mask) { return SYS4(sigprocmask, SIG_SETMASK, mask, 0, sizeof *mask); }
static inline i64 sys_sigtimedwait(const u64 *set, const struct timespec *limit) {
  return SYS4(sigtimedwait, set, 0, limit, sizeof *set);
}
static inline i64 sys_poll(struct pollfd *one) { return SYS4(ppoll, one, 1, 0, 0); }
static inline void sys_exit(int code) __attribute__((noreturn));
static inline void sys_exit(int code) {
  for (;;) SYS1(exit_group, code);
}

#endif
