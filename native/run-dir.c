#include "run-dir.h"

/** So much is reserved in advance: recording a death needs no new disk block then. */
enum { RESERVED_BYTES = 1024 };

static const char *const FILES[] = {"run.json", "err", "pid", "exit.tmp", "fifo"};

/** A new file with all of the text; negative: not even a part of it stays open. */
static i64 write_file(int dir, const char *name, const char *text, u64 size) {
  i64 fd = sys_openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return fd;
  i64 wrote = sys_pwrite((int)fd, text, size, 0);
  if (wrote == (i64)size) return fd;
  sys_close((int)fd);
  return wrote < 0 ? wrote : -ENOSPC; // what was cut off would have failed next
}

static int open_fifo(int dir) {
  // For reading too: then it opens without a daemon, and writing never fails for want of one. It never waits.
  return (int)sys_openat(dir, "fifo", O_RDWR | O_NONBLOCK | O_CLOEXEC, 0);
}

static i64 fill(struct request *r, struct run_dir *run, const char **step) {
  char *blank = r->scratch2;
  for (int i = 0; i < RESERVED_BYTES; i++) blank[i] = ' ';
  blank[RESERVED_BYTES - 1] = '\n';

  *step = "run.json";
  i64 meta = write_file(run->dir, "run.json", r->meta, length_of(r->meta));
  if (meta < 0) return meta;
  sys_close((int)meta);
  *step = "err";
  if ((run->err = (int)write_file(run->dir, "err", blank, RESERVED_BYTES)) < 0) return run->err;
  *step = "pid";
  if ((run->pid = (int)write_file(run->dir, "pid", blank, RESERVED_BYTES)) < 0) return run->pid;
  *step = "exit.tmp";
  if ((run->exit = (int)write_file(run->dir, "exit.tmp", blank, RESERVED_BYTES)) < 0) return run->exit;
  *step = "fifo";
  i64 made = sys_mkfifoat(run->dir, "fifo", 0600);
  if (made < 0) return made;
  return run->fifo = open_fifo(run->dir);
}

int make_run_dir(struct request *r, struct run_dir *run, struct failure *failure) {
  *run = (struct run_dir){-1, -1, -1, -1, -1};
  *failure = (struct failure){"mkdir", -ENAMETOOLONG};
  const char *made = path_of(r->scratch, r->staging, r->run);
  if (!made || (failure->error = sys_mkdir(made, 0700)) < 0) return 0;

  failure->step = "open";
  failure->error = run->dir = (int)sys_openat(AT_FDCWD, made, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (failure->error >= 0) failure->error = fill(r, run, &failure->step);
  if (failure->error >= 0) {
    failure->step = "rename";
    const char *place = path_of(r->scratch2, r->runs, r->run);
    failure->error = place ? sys_renameat(AT_FDCWD, made, AT_FDCWD, place) : -ENAMETOOLONG;
    if (failure->error >= 0) return 1;
  }
  // On a full disk every byte counts.
  for (u64 i = 0; run->dir >= 0 && i < sizeof FILES / sizeof *FILES; i++) sys_unlinkat(run->dir, FILES[i], 0);
  sys_unlinkat(AT_FDCWD, made, AT_REMOVEDIR);
  close_run_dir(run);
  return 0;
}

int open_run_dir(struct request *r, struct run_dir *run) {
  *run = (struct run_dir){-1, -1, -1, -1, -1};
  const char *place = path_of(r->scratch, r->runs, r->run);
  if (!place || (run->dir = (int)sys_openat(AT_FDCWD, place, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)) < 0) return 0;
  if ((run->err = (int)sys_openat(run->dir, "err", O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0)) < 0) return 0;
  if ((run->pid = (int)sys_openat(run->dir, "pid", O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0)) < 0) return 0;
  if ((run->exit = (int)sys_openat(run->dir, "exit.tmp", O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0)) < 0) return 0;
  return (run->fifo = open_fifo(run->dir)) >= 0;
}

void close_run_dir(struct run_dir *run) {
  const int open[] = {run->dir, run->err, run->pid, run->exit, run->fifo};
  for (u64 i = 0; i < sizeof open / sizeof *open; i++)
    if (open[i] >= 0) sys_close(open[i]);
}
