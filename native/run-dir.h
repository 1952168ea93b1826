/* The files of one run, as the daemon knows them too: see "The run protocol" in docs/architecture.md. */
#ifndef KEEPWELL_RUN_DIR_H
#define KEEPWELL_RUN_DIR_H

#include "request.h"

/** Every one of them is closed when a program is executed. */
struct run_dir { int dir, err, pid, exit, fifo; };

/** What could not be done, for the daemon's log. */
struct failure { const char *step; i64 error; };

/** Either the directory is complete and in its place, or nothing of it is left and `failure` says why. */
int make_run_dir(struct request *request, struct run_dir *made, struct failure *failure);
/** Of a directory that somebody else has made. */
int open_run_dir(struct request *request, struct run_dir *opened);
void close_run_dir(struct run_dir *run);

#endif
