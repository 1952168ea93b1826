#include "text.h"

u64 length_of(const char *text) {
  u64 length = 0;
  while (text[length]) length++;
  return length;
}

int equal(const char *one, const char *other) {
  while (*one && *one == *other) one++, other++;
  return *one == *other;
}

char *put(char *to, const char *end, const char *text) {
  while (to < end && *text) *to++ = *text++;
  *to = 0;
  return to;
}

char *put_number(char *to, const char *end, i64 value) {
  char digits[24];
  char *first = digits + sizeof digits - 1;
  u64 rest = value < 0 ? -(u64)value : (u64)value;
  *first = 0;
  do *--first = (char)('0' + rest % 10);
  while (rest /= 10);
  if (value < 0) *--first = '-';
  return put(to, end, first);
}

char *path_of(char *buffer, const char *first, const char *second) {
  const char *end = buffer + PATH_BYTES - 1;
  if (length_of(first) + 1 + length_of(second) >= PATH_BYTES) return 0;
  put(put(put(buffer, end, first), end, "/"), end, second);
  return buffer;
}

const char *words_of(i64 error) {
  switch (-error) {
    case EPERM: return "Operation not permitted";
    case ENOENT: return "No such file or directory";
    case EIO: return "Input/output error";
    case ENXIO: return "No such device or address";
    case E2BIG: return "Argument list too long";
    case ENOEXEC: return "Exec format error";
    case EAGAIN: return "Resource temporarily unavailable";
    case ENOMEM: return "Cannot allocate memory";
    case EACCES: return "Permission denied";
    case EBUSY: return "Device or resource busy";
    case EEXIST: return "File exists";
    case ENODEV: return "No such device";
    case ENOTDIR: return "Not a directory";
    case EISDIR: return "Is a directory";
    case EINVAL: return "Invalid argument";
    case ENFILE: return "Too many open files in system";
    case EMFILE: return "Too many open files";
    case ETXTBSY: return "Text file busy";
    case EFBIG: return "File too large";
    case ENOSPC: return "No space left on device";
    case EROFS: return "Read-only file system";
    case ENAMETOOLONG: return "File name too long";
    case ELOOP: return "Too many levels of symbolic links";
    case ELIBBAD: return "Accessing a corrupted shared library";
    case ESTALE: return "Stale file handle";
    case EDQUOT: return "Disk quota exceeded";
    default: return 0;
  }
}
