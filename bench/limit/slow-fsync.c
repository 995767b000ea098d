/*
 * A slow disk, to be preloaded: fsync and fdatasync take SLOW_FSYNC_MS (20 by default) longer than they do.
 * Each first sync of a process is told to SLOW_FSYNC_WITNESS, if set: a preload that did nothing must not go unseen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void be_witnessed(void) {
  static int is_told;
  const char *path = getenv("SLOW_FSYNC_WITNESS");
  if (is_told || path == NULL) return;
  is_told = 1;
  const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd >= 0) close(fd);
}

static void delay(void) {
  const char *text = getenv("SLOW_FSYNC_MS");
  const long ms = text == NULL ? 20 : atol(text);
  struct timespec rest = {ms / 1000, (ms % 1000) * 1000000L};
  be_witnessed();
  while (nanosleep(&rest, &rest) != 0) continue;
}

int fsync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  delay();
  return real(fd);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  delay();
  return real(fd);
}
