/* The shim of one run: it claims the run, starts the command, sees how it ends, and writes that down. It outlives the daemon. */
#ifndef KEEPWELL_SHIM_H
#define KEEPWELL_SHIM_H

#include "run-dir.h"

/** Of its own session, deaf to everything but SIGKILL and SIGSTOP. */
void be_deaf(void);

/** Never returns. Its run directory is open. */
void run_shim(struct request *request, struct run_dir *run) __attribute__((noreturn));

#endif
