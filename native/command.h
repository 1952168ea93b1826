/* From a fork of the shim to the command: everything it is bound by, and then its program. */
#ifndef KEEPWELL_COMMAND_H
#define KEEPWELL_COMMAND_H

#include "run-dir.h"

/** Exit codes of a fork that could not become the command; why is in `err`. */
enum { CANNOT_BE_BOUND = 124, NO_LOG = 125, CANNOT_BEGIN = 126 };

/** Writes `first` and `second` and the words for the error into `err`, over the blanks there. */
void complain(int err, char *scratch, const char *first, const char *second, i64 error);

/** Never returns: the program is executed, or why it cannot be is in `err`. `in_cgroup`: it was born there. */
void become_command(struct request *request, const struct run_dir *run, int in_cgroup) __attribute__((noreturn));

#endif
