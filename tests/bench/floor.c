// SPDX-License-Identifier: GPL-2.0-only
/*
 * floor.c - runs a command while the programs of floor.bpf.c are attached: floor OBJECT COMMAND [ARGUMENT...]. Exit
 * status: the command's, or 1 if the programs cannot be loaded.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/libbpf.h>

static const char *const vectors[] = {"local_timer", "reschedule", "call_function", "call_function_single", "irq_work"};

static int attach_vectors(struct bpf_program *program)
{
	char name[64];

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		snprintf(name, sizeof(name), "%s_entry", vectors[i]);
		if (!bpf_program__attach_raw_tracepoint(program, name))
			return -1;
		snprintf(name, sizeof(name), "%s_exit", vectors[i]);
		if (!bpf_program__attach_raw_tracepoint(program, name))
			return -1;
	}
	return 0;
}

/* The links stay for the life of this process. */
static int attach(const char *path)
{
	struct bpf_object *object = bpf_object__open(path);
	struct bpf_program *program;

	if (!object || bpf_object__load(object))
		return -1;
	bpf_object__for_each_program (program, object) {
		if (!strcmp(bpf_program__name(program), "floor_vector")) {
			if (attach_vectors(program))
				return -1;
		} else if (!bpf_program__attach(program)) {
			return -1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	int status = 0;

	if (argc < 3 || attach(argv[1])) {
		fprintf(stderr, "floor: the programs in %s cannot be attached here\n", argc > 1 ? argv[1] : "(none)");
		return 1;
	}
	if (!fork()) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	wait(&status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
