#include "request.h"

/** More than the kernel accepts as arguments and environment of a program. */
enum { MAX_BYTES = 16 << 20, HEADER_BYTES = 8 };

/** False: the end came first, or something that never ends well. */
static int read_all(int fd, char *to, u64 size) {
  while (size > 0) {
    i64 got = sys_read(fd, to, size);
    if (got == -EINTR) continue;
    if (got == -EAGAIN) {
      struct pollfd one = {fd, POLLIN, 0};
      sys_poll(&one);
      continue;
    }
    if (got <= 0) return 0;
    to += got;
    size -= (u64)got;
  }
  return 1;
}

/** The fields that have not been read yet. */
struct fields { char *at, *end; int is_broken; };

static char *next(struct fields *fields) {
  char *field = fields->at;
  if (field >= fields->end) {
    fields->is_broken = 1;
    return fields->end; // the NUL behind all of them
  }
  fields->at += length_of(field) + 1;
  return field;
}

static i64 next_number(struct fields *fields) {
  const char *text = next(fields);
  i64 sign = *text == '-' ? -1 : 1;
  i64 value = 0;
  if (!*text) return NOT_GIVEN;
  if (sign < 0) text++;
  for (; *text >= '0' && *text <= '9' && value < 1L << 56; text++) value = value * 10 + (*text - '0');
  if (*text) fields->is_broken = 1;
  return sign * value;
}

/** A count that cannot be true breaks the request. */
static u64 next_count(struct fields *fields) {
  i64 count = next_number(fields);
  if (count >= 0 && count <= fields->end - fields->at) return (u64)count;
  fields->is_broken = 1;
  return 0;
}

/** Pointers to that many fields, and a null behind them. */
static char **next_list(struct fields *fields, char ***free) {
  char **list = *free;
  u64 count = next_count(fields);
  u64 i = 0;
  for (; i < count && !fields->is_broken; i++) list[i] = next(fields);
  list[i] = 0;
  *free = list + i + 1;
  return list;
}

static void parse(struct request *r, struct fields *fields) {
  char **free = r->room;
  r->number = next(fields);
  r->staging = next(fields);
  r->runs = next(fields);
  r->run = next(fields);
  r->meta = next(fields);
  r->log = next(fields);
  r->cgroup = next(fields);
  r->cwd = next(fields);
  r->shell = next(fields);
  r->needs_tree = next_number(fields);
  r->soft_nofile = next_number(fields);
  r->nice = next_number(fields);
  r->umask = next_number(fields);
  r->nofile = next_number(fields);
  r->data_bytes = next_number(fields);
  r->processes = next_number(fields);
  r->uid = next_number(fields);
  r->gid = next_number(fields);
  for (int i = 0; i < DELAYS; i++) r->delays[i] = next_number(fields);
  r->joins = next_list(fields, &free);
  const char *keeps_groups = next(fields);
  r->group_count = next_count(fields);
  r->groups = *keeps_groups ? 0 : (u32 *)free;
  for (u64 i = 0; i < r->group_count && !fields->is_broken; i++) ((u32 *)free)[i] = (u32)next_number(fields);
  free += (fields->is_broken ? 0 : r->group_count) + 1; // the free place in front of the arguments comes with it
  r->argv = next_list(fields, &free);
  r->env = next_list(fields, &free);
  if (fields->at != fields->end || !r->argv[0]) fields->is_broken = 1;
}

int read_request(int fd, struct request *r) {
  u8 header[HEADER_BYTES];
  if (!read_all(fd, (char *)header, sizeof header)) return REQUEST_END;
  u32 size = header[4] | (u32)header[5] << 8 | (u32)header[6] << 16 | (u32)header[7] << 24;
  if (header[0] != 'K' || header[1] != 'W' || header[2] != 'R' || header[3] != '1' || size == 0 || size > MAX_BYTES)
    return REQUEST_BROKEN;
  r->text_bytes = size + 1;
  i64 text = sys_map(r->text_bytes);
  if (text < 0) return REQUEST_BROKEN;
  r->text = (void *)text;
  if (!read_all(fd, r->text, size)) return REQUEST_END;

  struct fields fields = {r->text, (char *)r->text + size, 0};
  if (fields.end[-1]) return REQUEST_BROKEN;
  u64 count = 8; // the nulls behind the lists, and the place in front of the arguments
  for (const char *at = fields.at; at < fields.end; at++) count += !*at;
  r->room_bytes = count * sizeof(char *) + 2 * PATH_BYTES;
  i64 room = sys_map(r->room_bytes);
  if (room < 0) return REQUEST_BROKEN;
  r->room = (void *)room;
  r->scratch = (char *)r->room + count * sizeof(char *);
  r->scratch2 = r->scratch + PATH_BYTES;
  parse(r, &fields);
  return fields.is_broken ? REQUEST_BROKEN : REQUEST_READ;
}

void forget_request(struct request *r) {
  sys_unmap(r->text, r->text_bytes);
  sys_unmap(r->room, r->room_bytes);
}
