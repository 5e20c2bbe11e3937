// SPDX-License-Identifier: GPL-2.0-only
/*
 * sieve DEVICE LENGTH - the device's driver drops each frame of more bytes that it receives (native XDP). The program
 * stays as long as the device, or until the next one.
 */
#include <errno.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/if_link.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

static int die(const char *what, int error)
{
	fprintf(stderr, "sieve: %s: %s\n", what, strerror(-error));
	return 1;
}

static int load(int length)
{
	const struct bpf_insn program[] = {
		{.code = BPF_LDX | BPF_MEM | BPF_W,
		 .dst_reg = BPF_REG_2,
		 .src_reg = BPF_REG_1,
		 .off = offsetof(struct xdp_md, data)},
		{.code = BPF_LDX | BPF_MEM | BPF_W,
		 .dst_reg = BPF_REG_3,
		 .src_reg = BPF_REG_1,
		 .off = offsetof(struct xdp_md, data_end)},
		{.code = BPF_ALU64 | BPF_SUB | BPF_X, .dst_reg = BPF_REG_3, .src_reg = BPF_REG_2},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_DROP},
		{.code = BPF_JMP | BPF_JGT | BPF_K, .dst_reg = BPF_REG_3, .off = 1, .imm = length},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "sieve", "GPL", program, sizeof(program) / sizeof(program[0]), NULL);
}

int main(int argc, char **argv)
{
	int program, error;

	if (argc != 3)
		return die("usage: sieve DEVICE LENGTH", -EINVAL);
	program = load(atoi(argv[2]));
	if (program < 0)
		return die("load", program);
	error = bpf_xdp_attach((int)if_nametoindex(argv[1]), program, XDP_FLAGS_DRV_MODE, NULL);
	return error ? die("attach", error) : 0;
}
