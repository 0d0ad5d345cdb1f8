/* A disk that fails once told to: preloaded into the tests' children, in front of the C library.
 * FAULT_PATH  files whose path holds this are meant
 * FAULT_AT    the number of the call, counted over writes, truncations and syncs
 * FAULT_KIND  eio, enospc: that call and all later ones fail
 *             sync: that call and all later ones fail if they are syncs
 *             torn: half of the write, then SIGKILL
 *             kill: SIGKILL before the call
 *             lost: the call is skipped and said to have succeeded
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;

static int meant(int fd) {
    char link[64], path[4096];
    const char *part = getenv("FAULT_PATH");
    if (!part) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return strstr(path, part) != NULL;
}

enum act { GO, FAIL, TEAR, SKIP };

static enum act decide(int fd, int is_sync) {
    if (!meant(fd)) return GO;
    const char *kind = getenv("FAULT_KIND");
    long at = atol(getenv("FAULT_AT")), call = atomic_fetch_add(&calls, 1) + 1;
    if (call < at) return GO;
    if (!strcmp(kind, "eio")) { errno = EIO; return FAIL; }
    if (!strcmp(kind, "enospc")) { errno = ENOSPC; return is_sync ? GO : FAIL; }
    if (!strcmp(kind, "sync")) { errno = EIO; return is_sync ? FAIL : GO; }
    if (call > at) return GO;
    if (!strcmp(kind, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(kind, "torn")) return TEAR;
    if (!strcmp(kind, "lost")) return SKIP;
    return GO;
}

#define REAL(name, type) ((type)dlsym(RTLD_NEXT, name))

ssize_t write(int fd, const void *data, size_t length) {
    ssize_t (*real)(int, const void *, size_t) = REAL("write", void *);
    switch (decide(fd, 0)) {
    case FAIL: return -1;
    case SKIP: return (ssize_t)length;
    case TEAR: real(fd, data, length / 2); kill(getpid(), SIGKILL); return -1;
    default: return real(fd, data, length);
    }
}

#define PWRITE(name) \
    ssize_t name(int fd, const void *data, size_t length, off_t at) { \
        ssize_t (*real)(int, const void *, size_t, off_t) = REAL(#name, void *); \
        switch (decide(fd, 0)) { \
        case FAIL: return -1; \
        case SKIP: return (ssize_t)length; \
        case TEAR: real(fd, data, length / 2, at); kill(getpid(), SIGKILL); return -1; \
        default: return real(fd, data, length, at); \
        } \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

#define SYNC(name) \
    int name(int fd) { \
        int (*real)(int) = REAL(#name, void *); \
        switch (decide(fd, 1)) { \
        case FAIL: return -1; \
        case SKIP: return 0; \
        case TEAR: kill(getpid(), SIGKILL); return -1; \
        default: return real(fd); \
        } \
    }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name) \
    int name(int fd, off_t length) { \
        int (*real)(int, off_t) = REAL(#name, void *); \
        switch (decide(fd, 0)) { \
        case FAIL: return -1; \
        case SKIP: return 0; \
        case TEAR: kill(getpid(), SIGKILL); return -1; \
        default: return real(fd, length); \
        } \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)
