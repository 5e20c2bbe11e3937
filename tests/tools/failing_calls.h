/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * failing_calls.h - for a program that includes it once: calls of the C library and of SQLite that can fail are
 * noted, or one of them fails. Its functions stand before the libraries' own, also for calls that SQLite makes; where
 * the C library calls itself, allocations alone are seen. With or without AddressSanitizer.
 *
 * A call is told by its thread and its number in that thread: so it is nearly the same one in each run.
 */
#pragma once

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

/* X(SORT, name): what can fail. */
#define CALL_SORTS(X)                                                                                                  \
	X(MEMORY, "memory") /* an allocation, also within a library */                                                 \
	X(THREAD, "thread") /* starting one */                                                                         \
	X(OPEN, "open") /* a file or directory */                                                                      \
	X(READ, "read")                                                                                                \
	X(MAP, "map") /* a file into memory */                                                                         \
	X(WRITE, "write")                                                                                              \
	X(FLUSH, "flush") /* of a stream, or its end: what it holds is lost */                                         \
	X(STAT, "stat")                                                                                                \
	X(KEEP, "keep") /* what was written: to give it its name, its length, or to the disk */                        \
	X(PREPARE, "prepare") /* a statement of SQL */                                                                 \
	X(BEGIN, "begin") /* the first step of one: interrupted at once */                                             \
	X(GO_ON, "go_on") /* another step */

#define X(sort, name) CALL_##sort,
enum call_sort { CALL_SORTS(X) CALL_N_SORTS };
#undef X

#define X(sort, name) name,
static const char *const call_sorts[] = {CALL_SORTS(X)};
#undef X

struct call {
	uint64_t stack; /* a sum of the places in this program that led to it */
	uint32_t thread, number; /* both from 1 on */
	enum call_sort sort;
};

enum call_mode { CALLS_PASS, CALLS_ARE_NOTED, ONE_CALL_FAILS, ALL_CALLS_FAIL_FROM_THERE };

#define MAX_CALLS 2000000
#define MAX_CALL_THREADS 512
#define CALL_DEPTH 64
#define CALL_PLACES 4 /* that tell a call from another, its own first: with all there are twice as many */

/* In memory that a child of this process shares. */
struct call_notes {
	atomic_size_t n; /* some may have found no room */
	atomic_bool has_failed;
	struct call list[MAX_CALLS];
	int depth; /* of the call that failed: */
	void *stack[CALL_DEPTH];
};

static struct call_notes *call_notes;
static enum call_mode call_mode;
static struct call failing_call;
static atomic_uint n_call_threads = 1;
static atomic_long live; /* pieces of memory; not with AddressSanitizer */
static _Thread_local uint32_t call_thread = 1, call_number;
static _Thread_local bool is_inside; /* what is called from here is not counted */

/* The functions that replace the libraries' are in a section of their own: they are no places that lead to a call. */
#define INSTEAD __attribute__((section("failing_calls"), noinline))

extern char __executable_start, etext, __start_failing_calls, __stop_failing_calls;

static bool is_own(const void *address)
{
	const char *at = address;

	return at >= &__executable_start && at < &etext && (at < &__start_failing_calls || at > &__stop_failing_calls);
}

struct own_stack {
	void **places;
	int n, most;
};

/* For _Unwind_Backtrace, which takes most of the time of a note: so it is told to stop when there are enough. */
INSTEAD static _Unwind_Reason_Code add_place(struct _Unwind_Context *context, void *arg)
{
	void *at = (void *)_Unwind_GetIP(context);
	struct own_stack *own = arg;

	if (is_own(at))
		own->places[own->n++] = (void *)((uintptr_t)at - (uintptr_t)&__executable_start);
	return own->n < own->most ? _URC_NO_REASON : _URC_END_OF_STACK;
}

INSTEAD static int own_stack(void *places[], int most)
{
	struct own_stack own = {.places = places, .most = most};

	_Unwind_Backtrace(add_place, &own);
	return own.n;
}

INSTEAD static void note_call(enum call_sort sort)
{
	const size_t at = call_notes->n++;
	uint64_t sum = sort == CALL_GO_ON; /* a part of the answer is there by then */
	void *own[CALL_PLACES];
	int n = own_stack(own, CALL_PLACES);

	if (at >= MAX_CALLS)
		return;
	for (int i = 0; i < n; i++)
		sum = (sum ^ (uint64_t)(uintptr_t)own[i]) * 0x9e3779b97f4a7c15;
	call_notes->list[at] = (struct call){sum, call_thread, call_number, sort};
}

INSTEAD static bool is_failing(enum call_sort sort)
{
	if (sort != failing_call.sort)
		return false;
	if (call_thread == failing_call.thread && call_number == failing_call.number) {
		call_notes->depth = own_stack(call_notes->stack, CALL_DEPTH);
		call_notes->has_failed = true;
		return true;
	}
	return call_mode == ALL_CALLS_FAIL_FROM_THERE && call_notes->has_failed;
}

/* Whether this call is to fail; with which errno. */
INSTEAD static bool fails(enum call_sort sort, int error)
{
	bool result = false;

	if (call_mode == CALLS_PASS || is_inside)
		return false;
	is_inside = true;
	call_number++;
	if (call_mode == CALLS_ARE_NOTED)
		note_call(sort);
	else
		result = is_failing(sort);
	is_inside = false;
	if (result)
		errno = error;
	return result;
}

/* ---- memory ---- */

#define ALLOCATORS(X)                                                                                                  \
	X(void *, malloc, (size_t size), (size))                                                                       \
	X(void *, calloc, (size_t n, size_t size), (n, size))                                                          \
	X(void *, realloc, (void *old, size_t size), (old, size))                                                      \
	X(void, free, (void *old), (old))

#define X(type, name, parameters, arguments)                                                                           \
	type __libc_##name parameters;                                                                                 \
	type __interceptor_##name parameters __attribute__((weak));                                                    \
	static type real_##name parameters                                                                             \
	{                                                                                                              \
		return __interceptor_##name ? __interceptor_##name arguments : __libc_##name arguments;                \
	}
ALLOCATORS(X)
#undef X

static void *counted(void *got)
{
	live += got != NULL;
	return got;
}

INSTEAD void *malloc(size_t size)
{
	return fails(CALL_MEMORY, ENOMEM) ? NULL : counted(real_malloc(size));
}

INSTEAD void *calloc(size_t n, size_t size)
{
	return fails(CALL_MEMORY, ENOMEM) ? NULL : counted(real_calloc(n, size));
}

INSTEAD void *realloc(void *old, size_t size)
{
	void *got = fails(CALL_MEMORY, ENOMEM) ? NULL : real_realloc(old, size);

	return old ? got : counted(got);
}

INSTEAD void *reallocarray(void *old, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, n * size);
}

void free(void *old)
{
	live -= old != NULL;
	real_free(old);
}

/* ---- the rest of the C library ---- */

/* The library's own function. Asked for before anything fails: dlsym allocates. */
#define REAL(name) ((__typeof__(&name))real_functions[REAL_##name])
#define REAL_FUNCTIONS(X)                                                                                              \
	X(pthread_create)                                                                                              \
	X(open)                                                                                                        \
	X(openat)                                                                                                      \
	X(fopen)                                                                                                       \
	X(opendir)                                                                                                     \
	X(read)                                                                                                        \
	X(pread)                                                                                                       \
	X(mmap)                                                                                                        \
	X(write)                                                                                                       \
	X(pwrite)                                                                                                      \
	X(fflush)                                                                                                      \
	X(fclose)                                                                                                      \
	X(stat)                                                                                                        \
	X(fstat)                                                                                                       \
	X(rename)                                                                                                      \
	X(renameat2)                                                                                                   \
	X(fsync)                                                                                                       \
	X(ftruncate)                                                                                                   \
	X(sqlite3_prepare_v2)                                                                                          \
	X(sqlite3_prepare_v3)                                                                                          \
	X(sqlite3_step)

#define X(name) REAL_##name,
enum { REAL_FUNCTIONS(X) N_REAL_FUNCTIONS };
#undef X

static void *real_functions[N_REAL_FUNCTIONS];

__attribute__((constructor)) static void find_real_functions(void)
{
#define X(name) real_functions[REAL_##name] = dlsym(RTLD_NEXT, #name);
	REAL_FUNCTIONS(X)
#undef X
}

static struct {
	void *(*start)(void *);
	void *argument;
} call_threads[MAX_CALL_THREADS];

INSTEAD static void *start_thread(void *number)
{
	call_thread = (uint32_t)(uintptr_t)number;
	return call_threads[call_thread].start(call_threads[call_thread].argument);
}

INSTEAD int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
	const uint32_t number = n_call_threads + 1;

	if (fails(CALL_THREAD, EAGAIN) || number >= MAX_CALL_THREADS)
		return EAGAIN;
	n_call_threads++;
	call_threads[number].start = start;
	call_threads[number].argument = argument;
	return REAL(pthread_create)(thread, attributes, start_thread, (void *)(uintptr_t)number);
}

static mode_t mode_of(int flags, va_list arguments)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

INSTEAD int open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	return fails(CALL_OPEN, EMFILE) ? -1 : REAL(open)(path, flags, mode);
}

INSTEAD int openat(int directory, const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	return fails(CALL_OPEN, EMFILE) ? -1 : REAL(openat)(directory, path, flags, mode);
}

INSTEAD FILE *fopen(const char *path, const char *mode)
{
	return fails(CALL_OPEN, EMFILE) ? NULL : REAL(fopen)(path, mode);
}

INSTEAD DIR *opendir(const char *path)
{
	return fails(CALL_OPEN, EMFILE) ? NULL : REAL(opendir)(path);
}

INSTEAD ssize_t read(int fd, void *to, size_t size)
{
	return fails(CALL_READ, EIO) ? -1 : REAL(read)(fd, to, size);
}

INSTEAD ssize_t pread(int fd, void *to, size_t size, off_t at)
{
	return fails(CALL_READ, EIO) ? -1 : REAL(pread)(fd, to, size, at);
}

INSTEAD void *mmap(void *at, size_t size, int rights, int flags, int fd, off_t offset)
{
	return fails(CALL_MAP, ENOMEM) ? MAP_FAILED : REAL(mmap)(at, size, rights, flags, fd, offset);
}

INSTEAD ssize_t write(int fd, const void *from, size_t size)
{
	return fails(CALL_WRITE, ENOSPC) ? -1 : REAL(write)(fd, from, size);
}

INSTEAD ssize_t pwrite(int fd, const void *from, size_t size, off_t at)
{
	return fails(CALL_WRITE, ENOSPC) ? -1 : REAL(pwrite)(fd, from, size, at);
}

/* Not what was opened to read, and no end of all streams. */
INSTEAD static bool loses_output(FILE *file)
{
	if (!file || !__fwritable(file) || file == stderr || !fails(CALL_FLUSH, ENOSPC))
		return false;
	__fpurge(file);
	file->_flags |= _IO_ERR_SEEN;
	return true;
}

INSTEAD int fflush(FILE *file)
{
	return loses_output(file) ? EOF : REAL(fflush)(file);
}

INSTEAD int fclose(FILE *file)
{
	const bool is_lost = loses_output(file);

	return REAL(fclose)(file) || is_lost ? EOF : 0;
}

INSTEAD int stat(const char *path, struct stat *found)
{
	return fails(CALL_STAT, EIO) ? -1 : REAL(stat)(path, found);
}

INSTEAD int fstat(int fd, struct stat *found)
{
	return fails(CALL_STAT, EIO) ? -1 : REAL(fstat)(fd, found);
}

INSTEAD int rename(const char *from, const char *to)
{
	return fails(CALL_KEEP, EIO) ? -1 : REAL(rename)(from, to);
}

INSTEAD int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned int flags)
{
	return fails(CALL_KEEP, EIO) ? -1 : REAL(renameat2)(from_directory, from, to_directory, to, flags);
}

INSTEAD int fsync(int fd)
{
	return fails(CALL_KEEP, EIO) ? -1 : REAL(fsync)(fd);
}

INSTEAD int ftruncate(int fd, off_t size)
{
	return fails(CALL_KEEP, EIO) ? -1 : REAL(ftruncate)(fd, size);
}

/* Where files are large SQLite calls these names. */
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
ssize_t pread64(int fd, void *to, size_t size, off_t at) __attribute__((alias("pread")));
ssize_t pwrite64(int fd, const void *from, size_t size, off_t at) __attribute__((alias("pwrite")));
void *mmap64(void *at, size_t size, int rights, int flags, int fd, off_t offset) __attribute__((alias("mmap")));
FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));
int ftruncate64(int fd, off_t size) __attribute__((alias("ftruncate")));

/* ---- SQLite: it gives the error itself, so that what it says of it afterwards agrees ---- */

INSTEAD int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int size, sqlite3_stmt **statement, const char **rest)
{
	if (fails(CALL_PREPARE, EIO))
		return REAL(sqlite3_prepare_v2)(db, "no SQL", -1, statement, rest);
	return REAL(sqlite3_prepare_v2)(db, sql, size, statement, rest);
}

INSTEAD int sqlite3_prepare_v3(sqlite3 *db, const char *sql, int size, unsigned int flags, sqlite3_stmt **statement,
			       const char **rest)
{
	if (fails(CALL_PREPARE, EIO))
		return REAL(sqlite3_prepare_v3)(db, "no SQL", -1, flags, statement, rest);
	return REAL(sqlite3_prepare_v3)(db, sql, size, flags, statement, rest);
}

static int stop_now(void *unused)
{
	(void)unused;
	return 1;
}

INSTEAD int sqlite3_step(sqlite3_stmt *statement)
{
	sqlite3 *db = sqlite3_db_handle(statement);
	int result;

	if (!fails(sqlite3_stmt_busy(statement) ? CALL_GO_ON : CALL_BEGIN, EIO))
		return REAL(sqlite3_step)(statement);
	sqlite3_progress_handler(db, 1, stop_now, NULL);
	result = REAL(sqlite3_step)(statement);
	sqlite3_progress_handler(db, 0, NULL, NULL);
	return result;
}
