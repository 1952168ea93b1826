/*
 * What the daemon asks for: one run. A request is the four letters KWR1, the length of the rest (4 bytes, little-endian), and fields
 * that each end with a NUL, in the order of `struct request`; src/drivers/process/shim/request.ts writes it. A number that is not
 * given is an empty field.
 */
#ifndef KEEPWELL_REQUEST_H
#define KEEPWELL_REQUEST_H

#include "text.h"

/** A number that was not given. */
#define NOT_GIVEN (-(1L << 62))

enum delay { BEFORE_CLAIM, BEFORE_START, BEFORE_TELLING, BEFORE_RECORD, DELAYS };

struct request {
  /** Returned with the answer. */
  char *number;
  /** Where the run directory is made before it gets its place; empty: it is there already. */
  char *staging;
  char *runs;
  char *run;
  /** The text of run.json. */
  char *meta;
  char *log;
  /** Of the tree; empty: none. */
  char *cgroup;
  char *cwd;
  /** Runs what the kernel takes for no program: a script without "#!". */
  char *shell;
  /** Without the cgroup of the tree the command may not begin. */
  i64 needs_tree;
  i64 soft_nofile, nice, umask, nofile, data_bytes, processes;
  i64 uid, gid;
  /** Milliseconds, for tests. */
  i64 delays[DELAYS];
  /** Cgroups that must be joined beside the one of the tree. */
  char **joins;
  /** Null: as they are. */
  u32 *groups;
  u64 group_count;
  /** One free place in front of it, for the shell. */
  char **argv;
  char **env;

  /** Two buffers of PATH_BYTES for whoever needs one for a moment. */
  char *scratch, *scratch2;
  void *text, *room;
  u64 text_bytes, room_bytes;
};

enum { REQUEST_END = 0, REQUEST_READ = 1, REQUEST_BROKEN = -1 };

/** Waits for one. REQUEST_END: nobody can send one any more. */
int read_request(int fd, struct request *request);
/** Gives its memory back; nothing of it may be used any more. */
void forget_request(struct request *request);

#endif
