// Preloaded into ergometer: a disk without room. While the file $ERG_FULL exists, writing to or syncing files whose path holds
// $ERG_FULL_WHERE fails with ENOSPC, after the first $ERG_FULL_AFTER such writes (counted over all processes as bytes of $ERG_FULL.count).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ssize_t (*real_write)(int, const void*, size_t);

static int concerns(int fd) {
  const char *flag = getenv("ERG_FULL"), *where = getenv("ERG_FULL_WHERE");
  if (!flag || !where || access(flag, F_OK) != 0) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return 0;
  path[n] = 0;
  return strstr(path, where) != NULL;
}

static int full(void) {
  const char* after = getenv("ERG_FULL_AFTER");
  char count[4096];
  snprintf(count, sizeof count, "%s.count", getenv("ERG_FULL"));
  const int fd = open(count, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return 1;
  struct stat s;
  fstat(fd, &s);
  real_write(fd, "x", 1);
  close(fd);
  return s.st_size >= (after ? atol(after) : 0);
}

ssize_t write(int fd, const void* data, size_t size) {
  if (!real_write) real_write = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  if (fd > 2 && concerns(fd) && full()) {
    errno = ENOSPC;
    return -1;
  }
  return real_write(fd, data, size);
}
