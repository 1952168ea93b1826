/* Text without a libc: pieces are put one behind the other, numbers are read and written, errors have their usual words. */
#ifndef KEEPWELL_TEXT_H
#define KEEPWELL_TEXT_H

#include "sys.h"

enum { PATH_BYTES = 4096 };

u64 length_of(const char *text);
int equal(const char *one, const char *other);

/** Appends and returns the new end, which is always a NUL. `end` is the last byte that may be used: what does not fit is cut off. */
char *put(char *to, const char *end, const char *text);
char *put_number(char *to, const char *end, i64 value);

/** `first/second` into a buffer of PATH_BYTES; null when it is too long for any path. */
char *path_of(char *buffer, const char *first, const char *second);

/** What strerror(3) says of an error of the kernel, given as it came: negative. */
const char *words_of(i64 error);

#endif
