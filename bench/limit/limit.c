/*
 * The limit: what starting N processes costs when nothing else is done. Per task it does what Drover's spawner does:
 * opens and empties the slot's two files of output, posix_spawn into a new session with all signals at their defaults,
 * the variables of a task in its environment, stdin from /dev/null, and wait4 for its end and its usage.
 *
 * limit N SLOTS FOLDER PROGRAM [ARGUMENT...]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS_MAX 4096
#define VARIABLES 12

extern char **environ;

static pid_t pid_of[SLOTS_MAX];
static posix_spawnattr_t attributes;
static char variables[VARIABLES][PATH_MAX];
static char **environment;
static size_t inherited;

static void fail(const char *what, int error) {
  fprintf(stderr, "limit: %s: %s\n", what, strerror(error));
  exit(1);
}

static void prepare(void) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  while (environ[inherited] != NULL) inherited++;
  environment = calloc(inherited + VARIABLES + 1, sizeof *environment);
  if (environment == NULL) fail("calloc", errno);
  memcpy(environment, environ, inherited * sizeof *environment);
  for (int i = 0; i < VARIABLES; i++) environment[inherited + i] = variables[i];
}

/* As many as a task of Drover has, and about as long: the kernel copies them for each program. */
static void set_variables(long task, int slot, const char *folder) {
  static const char *names[VARIABLES] = {"WORKFLOW_ID", "TASK_ID", "TASK_NAME", "INDEX",      "ATTEMPT",   "WORKER",
                                         "SLOT",        "CPUS",    "TASK_DIR",  "ATTEMPT_ID", "SPAWN_KEY", "REAP"};
  for (int i = 0; i < VARIABLES; i++) {
    const int is_path = strcmp(names[i], "TASK_DIR") == 0 || strcmp(names[i], "REAP") == 0;
    if (is_path) snprintf(variables[i], PATH_MAX, "LIMIT_%s=%s", names[i], folder);
    else snprintf(variables[i], PATH_MAX, "LIMIT_%s=%d.%ld", names[i], slot, task);
  }
}

static int open_output(const char *folder, int slot, const char *stream) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/slot-%d.%s", folder, slot, stream);
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) fail(path, errno);
  return fd;
}

static void start(long task, int slot, const char *folder, int null, char **argv) {
  const int out = open_output(folder, slot, "out");
  const int err = open_output(folder, slot, "err");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder);
  posix_spawn_file_actions_adddup2(&actions, null, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  set_variables(task, slot, folder);
  const int error = posix_spawnp(&pid_of[slot], argv[0], &actions, &attributes, argv, environment);
  if (error != 0) fail(argv[0], error);
  posix_spawn_file_actions_destroy(&actions);
  close(out);
  close(err);
}

static int wait_for_slot(int slots) {
  int status;
  struct rusage usage;
  const pid_t pid = wait4(-1, &status, 0, &usage);
  if (pid < 0) fail("wait4", errno);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fprintf(stderr, "limit: a task failed with status %d\n", status);
    exit(1);
  }
  for (int slot = 0; slot < slots; slot++) {
    if (pid_of[slot] == pid) return slot;
  }
  fprintf(stderr, "limit: process %d is not a task\n", (int)pid);
  exit(1);
}

int main(int argc, char **argv) {
  const long tasks = argc > 4 ? atol(argv[1]) : 0;
  const int slots = argc > 4 ? atoi(argv[2]) : 0;
  if (tasks < 1 || slots < 1 || slots > SLOTS_MAX) {
    fprintf(stderr, "usage: limit N SLOTS FOLDER PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  const char *folder = argv[3];
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0) fail("/dev/null", errno);
  prepare();
  long started = 0, ended = 0;
  while (started < tasks && started < slots) {
    start(started, (int)started, folder, null, argv + 4);
    started++;
  }
  while (ended < tasks) {
    const int slot = wait_for_slot(slots);
    ended++;
    if (started < tasks) start(started++, slot, folder, null, argv + 4);
  }
  return 0;
}
