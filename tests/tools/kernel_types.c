// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel_types.c - compares a kernel's types with what the BPF programs take for granted, without that kernel.
 *
 *   kernel_types faults OBJECT TYPES    each field that a program reads, and that the kernel has not, or not of a kind
 *                                       and size that libbpf can fit the read to. A line each; exit status 1 if any
 *   kernel_types points OBJECT TYPES    what else the programs depend on: the fields that they ask the kernel for, and
 *                                       the prototypes of all attach points. To be compared with another kernel's
 *
 * OBJECT is the linked BPF object, TYPES a kernel's type information (/sys/kernel/btf/vmlinux). The programs' reads
 * stand in the object's CO-RE relocations: the type, the way from field to field, and the instruction that reads.
 */
#include <errno.h>
#include <gelf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <linux/bpf.h>

#include "record/plan.h"

#define MAX_STEPS 16
#define FLAVOUR "___"

/* How .BTF.ext begins; libbpf does not show it. */
struct ext_header {
	__u16 magic;
	__u8 version, flags;
	__u32 header_size;
	__u32 funcs_offset, funcs_size, lines_offset, lines_size;
	__u32 core_offset, core_size;
};

/* A section's part of it. */
struct ext_section {
	__u32 name, count;
	struct bpf_core_relo relocations[];
};

/* One step of the way from a type to a field of its: to a member or an enum's value, or to an element of an array. */
struct step {
	const char *member; /* NULL: an element */
	__u32 index;
	__u32 type; /* what is there, by our types */
};

/* One relocation: who reads what. Without steps it is of the type itself. */
struct access {
	const char *type; /* with its flavour */
	char name[64]; /* without */
	__u32 kind; /* of the type: BTF_KIND_* */
	struct step steps[MAX_STEPS];
	int count;
	enum bpf_core_relo_kind asks;
	struct bpf_insn insn;
};

/* Where a way ends in the kernel's types. */
struct field {
	__u32 type;
	bool is_bits;
};

struct checked {
	struct btf *ours, *kernel;
	struct access *accesses;
	int count;
	char **lines; /* what was found, each once */
	int lines_count;
};

__attribute__((format(printf, 1, 2))) static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("kernel_types: ", stderr);
	vfprintf(stderr, format, args);
	fputs("\n", stderr);
	va_end(args);
	exit(2);
}

static void *must_grow(void *old, size_t count, size_t size)
{
	void *grown = reallocarray(old, count, size);

	if (!grown)
		die("out of memory");
	return grown;
}

__attribute__((format(printf, 2, 3))) static void add_line(struct checked *checked, const char *format, ...)
{
	va_list args;
	char *line;

	va_start(args, format);
	if (vasprintf(&line, format, args) < 0)
		die("out of memory");
	va_end(args);
	for (int i = 0; i < checked->lines_count; i++)
		if (!strcmp(checked->lines[i], line)) {
			free(line);
			return;
		}
	checked->lines = must_grow(checked->lines, checked->lines_count + 1, sizeof(*checked->lines));
	checked->lines[checked->lines_count++] = line;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_lines(struct checked *checked)
{
	if (checked->lines_count)
		qsort(checked->lines, checked->lines_count, sizeof(*checked->lines), by_text);
	for (int i = 0; i < checked->lines_count; i++)
		puts(checked->lines[i]);
}

/* ---- types ---- */

/* The type itself: without typedefs, const, volatile and the like. */
static __u32 bare_id(const struct btf *btf, __u32 id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (btf_is_mod(type) || btf_is_typedef(type)) {
		id = type->type;
		type = btf__type_by_id(btf, id);
	}
	return id;
}

static const struct btf_type *bare(const struct btf *btf, __u32 id)
{
	return btf__type_by_id(btf, bare_id(btf, id));
}

static const char *name_of(const struct btf *btf, const struct btf_type *type)
{
	return btf__name_by_offset(btf, type->name_off);
}

static bool is_signed(const struct btf_type *type)
{
	return btf_is_int(type) && btf_int_encoding(type) & BTF_INT_SIGNED;
}

static const char *kind_of(const struct btf_type *type)
{
	if (btf_is_int(type))
		return is_signed(type) ? "signed" : "unsigned";
	return btf_is_ptr(type)		? "a pointer"
	       : btf_is_array(type)	? "an array"
	       : btf_is_composite(type) ? "a record"
					: "an enum";
}

/* ---- what the object reads ---- */

/* text: "sk_buff.cb[4]", or with the flavour */
static const char *text_of(const char *type, const struct access *access)
{
	static char text[512];
	size_t used = snprintf(text, sizeof(text), "%s", type);

	for (int i = 0; i < access->count && used < sizeof(text); i++) {
		const struct step *step = &access->steps[i];

		if (step->member)
			used += snprintf(text + used, sizeof(text) - used, ".%s", step->member);
		else
			used += snprintf(text + used, sizeof(text) - used, "[%u]", step->index);
	}
	return text;
}

static void add_step(struct access *access, const char *member, __u32 index, __u32 type)
{
	if (access->count == MAX_STEPS)
		die("%s: more than %d steps", access->type, MAX_STEPS);
	access->steps[access->count++] = (struct step){.member = member, .index = index, .type = type};
}

/* The name of an enum's value by its place; NULL: it has none. */
static const char *value_name(const struct btf *btf, const struct btf_type *type, __u32 index)
{
	if (index >= btf_vlen(type))
		return NULL;
	return btf__name_by_offset(btf, btf_is_enum(type) ? btf_enum(type)[index].name_off
							  : btf_enum64(type)[index].name_off);
}

/*
 * "0:4:1": the first number is of an array of such types, the others are members or elements. For an enum it is the
 * place of a value.
 */
static void read_steps(const struct btf *btf, struct access *access, __u32 type_id, const char *numbers)
{
	__u32 first = strtoul(numbers, (char **)&numbers, 10);

	if (btf_is_any_enum(bare(btf, type_id)))
		add_step(access, value_name(btf, bare(btf, type_id), first), 0, type_id);
	while (*numbers == ':') {
		__u32 index = strtoul(numbers + 1, (char **)&numbers, 10);
		const struct btf_type *type = bare(btf, type_id);

		if (btf_is_composite(type) && index < btf_vlen(type)) {
			const struct btf_member *member = &btf_members(type)[index];
			const char *name = btf__name_by_offset(btf, member->name_off);

			type_id = member->type;
			if (*name)
				add_step(access, name, 0, type_id);
		} else if (btf_is_array(type)) {
			type_id = btf_array(type)->type;
			add_step(access, NULL, index, type_id);
		} else {
			die("%s: its relocation cannot be read", access->type);
		}
	}
}

static void read_access(const struct btf *btf, struct access *access, const struct bpf_core_relo *relocation)
{
	const struct btf_type *type = btf__type_by_id(btf, relocation->type_id);
	const char *flavour;

	access->asks = relocation->kind;
	access->type = name_of(btf, type);
	if (access->asks > BPF_CORE_ENUMVAL_VALUE)
		die("%s: a relocation of kind %d: this program must learn it", access->type, access->asks);
	flavour = strstr(access->type, FLAVOUR);
	snprintf(access->name, sizeof(access->name), "%.*s",
		 (int)(flavour ? flavour - access->type : (long)strlen(access->type)), access->type);
	access->kind = btf_kind(type);
	read_steps(btf, access, relocation->type_id, btf__name_by_offset(btf, relocation->access_str_off));
}

static const Elf_Data *section_of(Elf *elf, const char *wanted)
{
	size_t names;
	GElf_Shdr header;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section))
		if (gelf_getshdr(section, &header) && !strcmp(elf_strptr(elf, names, header.sh_name), wanted))
			return elf_getdata(section, NULL);
	return NULL;
}

/* The relocations of one section of programs; returns where they end. */
static const char *read_section(struct checked *checked, Elf *elf, const struct ext_section *info, __u32 record_size)
{
	const char *name = btf__name_by_offset(checked->ours, info->name), *at = (const char *)info->relocations;
	const Elf_Data *code = section_of(elf, name);

	if (!code)
		die("no section %s", name);
	checked->accesses = must_grow(checked->accesses, checked->count + info->count, sizeof(*checked->accesses));
	for (__u32 i = 0; i < info->count; i++, at += record_size) {
		const struct bpf_core_relo *relocation = (const void *)at;
		struct access *access = &checked->accesses[checked->count++];

		memset(access, 0, sizeof(*access));
		if (relocation->insn_off + sizeof(access->insn) > code->d_size)
			die("a relocation beyond the end of section %s", name);
		memcpy(&access->insn, (const char *)code->d_buf + relocation->insn_off, sizeof(access->insn));
		read_access(checked->ours, access, relocation);
	}
	return at;
}

static void read_object(struct checked *checked, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	const struct ext_header *header;
	const Elf_Data *section;
	const char *at, *end;
	__u32 record_size;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(file, ELF_C_READ, NULL);
	section = elf ? section_of(elf, ".BTF.ext") : NULL;
	checked->ours = btf__parse_elf(path, NULL);
	if (!checked->ours || !section)
		die("%s: no BPF object with types", path);
	header = section->d_buf;
	at = (const char *)header + header->header_size + header->core_offset;
	end = at + header->core_size;
	record_size = *(const __u32 *)at;
	at += sizeof(record_size);
	while (at < end)
		at = read_section(checked, elf, (const void *)at, record_size);
	elf_end(elf);
	close(file);
}

/* ---- the same in the kernel, as libbpf looks for it ---- */

/* A member by its name, also of a record without one in the record; NULL: it has none. */
static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *record, const char *name,
					    bool *is_bits)
{
	for (__u32 i = 0; i < btf_vlen(record); i++) {
		const struct btf_member *member = &btf_members(record)[i], *inner = NULL;
		const char *found = btf__name_by_offset(btf, member->name_off);

		*is_bits = btf_member_bitfield_size(record, i) != 0;
		if (!strcmp(found, name))
			return member;
		if (!*found && btf_is_composite(bare(btf, member->type)))
			inner = find_member(btf, bare(btf, member->type), name, is_bits);
		if (inner)
			return inner;
	}
	return NULL;
}

/* Whether libbpf takes them for the same field: it looks at kinds, and not at sizes. */
static bool are_alike(const struct btf *ours, __u32 our_id, const struct btf *kernel, __u32 kernel_id)
{
	const struct btf_type *our = bare(ours, our_id), *their = bare(kernel, kernel_id);

	if (btf_is_array(our) && btf_is_array(their))
		return are_alike(ours, btf_array(our)->type, kernel, btf_array(their)->type);
	return (btf_is_composite(our) && btf_is_composite(their)) || btf_kind(our) == btf_kind(their);
}

static bool has_value(const struct btf *btf, const struct btf_type *type, const char *name)
{
	for (__u32 i = 0; i < btf_vlen(type); i++)
		if (!strcmp(value_name(btf, type, i), name))
			return true;
	return false;
}

static bool take_step(const struct checked *checked, const struct step *step, struct field *field)
{
	const struct btf_type *type = bare(checked->kernel, field->type);

	if (btf_is_any_enum(type))
		return step->member && has_value(checked->kernel, type, step->member);
	if (!step->member) {
		if (!btf_is_array(type) || (btf_array(type)->nelems && step->index >= btf_array(type)->nelems))
			return false;
		*field = (struct field){.type = btf_array(type)->type};
	} else {
		const struct btf_member *member = NULL;

		if (btf_is_composite(type))
			member = find_member(checked->kernel, type, step->member, &field->is_bits);
		if (!member)
			return false;
		field->type = member->type;
	}
	return are_alike(checked->ours, step->type, checked->kernel, field->type);
}

/* The field that the access is to. A kernel may have several types of one name. */
static bool find_field(const struct checked *checked, const struct access *access, struct field *field)
{
	for (__u32 id = 1; id < btf__type_cnt(checked->kernel); id++) {
		const struct btf_type *type = btf__type_by_id(checked->kernel, id);
		int taken = 0;

		if (btf_kind(type) != access->kind || strcmp(name_of(checked->kernel, type), access->name) != 0)
			continue;
		*field = (struct field){.type = id};
		while (taken < access->count && take_step(checked, &access->steps[taken], field))
			taken++;
		if (taken == access->count)
			return true;
	}
	return false;
}

/* ---- faults ---- */

static bool is_same_step(const struct step *a, const struct step *b)
{
	return a->member && b->member ? !strcmp(a->member, b->member)
				      : !a->member && !b->member && a->index == b->index;
}

/* The first goes a part of the second's way, or all of it. */
static bool leads_to(const struct access *first, const struct access *second)
{
	for (int i = 0; i < first->count; i++)
		if (i == second->count || !is_same_step(&first->steps[i], &second->steps[i]))
			return false;
	return true;
}

static const char *last_name(const struct access *access)
{
	return access->count ? access->steps[access->count - 1].member : NULL;
}

static bool have_one_name(const struct access *a, const struct access *b)
{
	return last_name(a) && last_name(b) && !strcmp(last_name(a), last_name(b));
}

static bool is_question(const struct access *access)
{
	return access->asks == BPF_CORE_FIELD_EXISTS || access->asks == BPF_CORE_TYPE_EXISTS ||
	       access->asks == BPF_CORE_ENUMVAL_EXISTS;
}

/*
 * Whether the programs ask for something before they read this field, which the kernel has not, so that they do not. It
 * is the field itself, a record that it is in, or a field beside it in a flavour of the type: a flavour has what goes
 * together. Or the answer to the question is another field, which is read instead: it has this one's name, or is within
 * what we take for a number.
 */
static bool is_guarded(const struct checked *checked, const struct access *access)
{
	for (int i = 0; i < checked->count; i++) {
		const struct access *guard = &checked->accesses[i];
		struct field found;

		if (!is_question(guard) || strcmp(guard->name, access->name) != 0)
			continue;
		if (find_field(checked, guard, &found)) {
			if (have_one_name(guard, access) || (guard->count > access->count && leads_to(access, guard)))
				return true;
		} else if (!strcmp(guard->type, access->type) &&
			   (leads_to(guard, access) || strstr(access->type, FLAVOUR))) {
			return true;
		}
	}
	return false;
}

/* Whether the programs read it as bits (BPF_CORE_READ_BITFIELD), of whatever number. */
static bool is_read_as_bits(const struct checked *checked, const struct access *access)
{
	for (int i = 0; i < checked->count; i++) {
		const struct access *other = &checked->accesses[i];

		if (other->asks == BPF_CORE_FIELD_LSHIFT_U64 && !strcmp(other->type, access->type) &&
		    other->count == access->count && leads_to(other, access))
			return true;
	}
	return false;
}

/* The bytes that an instruction reads or writes; 0: it takes an address. */
static unsigned int bytes_of(const struct bpf_insn *insn)
{
	int class = BPF_CLASS(insn->code), size = BPF_SIZE(insn->code);

	if (class != BPF_LDX && class != BPF_ST && class != BPF_STX)
		return 0;
	return size == BPF_B ? 1 : size == BPF_H ? 2 : size == BPF_W ? 4 : 8;
}

/*
 * Whether the read works for the kernel's field. If its size is another, libbpf fits an instruction that reads all of
 * an unsigned number or of a pointer, and refuses others. A copy from an address has the size that we say.
 */
static bool fits(const struct checked *checked, const struct access *access, __u32 our_id, __u32 kernel_id)
{
	const struct btf_type *our = bare(checked->ours, our_id), *their = bare(checked->kernel, kernel_id);
	long long our_size = btf__resolve_size(checked->ours, our_id);
	long long their_size = btf__resolve_size(checked->kernel, kernel_id);

	if (our_size == their_size || btf_is_composite(our))
		return true;
	if (btf_is_array(our))
		return our_size < their_size;
	if (bytes_of(&access->insn) != our_size)
		return false;
	return btf_is_ptr(our) || (btf_is_int(our) && !is_signed(our) && !is_signed(their));
}

static void add_misfit(struct checked *checked, const struct access *access, __u32 our_id, __u32 kernel_id,
		       bool is_bits)
{
	const struct btf_type *our = bare(checked->ours, our_id), *their = bare(checked->kernel, kernel_id);

	add_line(checked, "%s: ours is %s and has %lld bytes; the kernel's is %s and has %lld%s",
		 text_of(access->name, access), kind_of(our), (long long)btf__resolve_size(checked->ours, our_id),
		 kind_of(their), (long long)btf__resolve_size(checked->kernel, kernel_id),
		 is_bits ? ", of which some bits" : "");
}

static void check_access(struct checked *checked, const struct access *access)
{
	__u32 our_type = access->count ? access->steps[access->count - 1].type : 0;
	struct field field;

	if (is_question(access) || access->asks == BPF_CORE_TYPE_ID_LOCAL)
		return;
	if (!find_field(checked, access, &field)) {
		if (!is_guarded(checked, access))
			add_line(checked, "%s: the kernel has it not, or as another kind of type",
				 text_of(access->name, access));
	} else if (access->asks == BPF_CORE_FIELD_BYTE_OFFSET && !is_read_as_bits(checked, access) &&
		   (field.is_bits || !fits(checked, access, our_type, field.type))) {
		add_misfit(checked, access, our_type, field.type, field.is_bits);
	}
}

static int print_faults(struct checked *checked)
{
	for (int i = 0; i < checked->count; i++)
		check_access(checked, &checked->accesses[i]);
	print_lines(checked);
	return checked->lines_count != 0;
}

/* ---- what to compare with another kernel's ---- */

static const char *word_of(const struct btf_type *type)
{
	return btf_is_union(type) ? "union " : btf_is_any_enum(type) ? "enum " : "struct ";
}

/* As in C, but for functions: "const struct sock *" */
static void add_type(const struct btf *btf, __u32 id, FILE *out)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	const char *name = name_of(btf, type);

	if (!id) {
		fputs("void", out);
	} else if (btf_is_ptr(type)) {
		add_type(btf, type->type, out);
		fputs(btf_is_ptr(btf__type_by_id(btf, type->type)) ? "*" : " *", out);
	} else if (btf_is_mod(type)) {
		fputs(btf_is_const(type) ? "const " : "", out);
		add_type(btf, type->type, out);
	} else {
		fputs(btf_is_composite(type) || btf_is_fwd(type) || btf_is_any_enum(type) ? word_of(type) : "", out);
		fputs(btf_is_func_proto(type) ? "function" : name, out);
	}
}

/* "(int, struct sock *)", from the given parameter on */
static void add_parameters(const struct btf *btf, const struct btf_type *prototype, int first, FILE *out)
{
	fputs("(", out);
	for (int i = first; i < btf_vlen(prototype); i++) {
		fputs(i > first ? ", " : "", out);
		if (btf_params(prototype)[i].type)
			add_type(btf, btf_params(prototype)[i].type, out);
		else
			fputs("...", out);
	}
	fputs(btf_vlen(prototype) > first ? ")" : "void)", out);
}

/* A line for a tracepoint or a function. `prototype` is NULL where the kernel has none. */
static void add_prototype(struct checked *checked, const char *what, const char *name, const struct btf_type *prototype,
			  int first)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!prototype) {
		add_line(checked, "%s %s: none", what, name);
		return;
	}
	out = open_memstream(&text, &size);
	if (!out)
		die("out of memory");
	add_parameters(checked->kernel, prototype, first, out);
	if (!first) {
		fputs(" returns ", out);
		add_type(checked->kernel, prototype->type, out);
	}
	if (fclose(out))
		die("out of memory");
	add_line(checked, "%s %s%s", what, name, text);
	free(text);
}

/* Its type is a pointer to a function, whose first parameter the program does not get. */
static void add_tracepoint(struct checked *checked, const char *point)
{
	const struct btf *btf = checked->kernel;
	char name[128];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", point);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	add_prototype(checked, "tracepoint", point, id > 0 ? bare(btf, bare(btf, id)->type) : NULL, 1);
}

static void add_function(struct checked *checked, const char *point)
{
	const struct btf *btf = checked->kernel;
	int id = btf__find_by_name_kind(btf, point, BTF_KIND_FUNC);

	add_prototype(checked, "function", point, id > 0 ? bare(btf, btf__type_by_id(btf, id)->type) : NULL, 0);
}

static void add_point(struct checked *checked, const struct nt_attach_point *point)
{
	if (point->how == NT_AT_TRACEPOINT || point->how == NT_AT_NAMED)
		add_tracepoint(checked, point->point);
	else if (point->how == NT_AT_ENTRY || point->how == NT_AT_EXIT)
		add_function(checked, point->point);
}

static void add_name(struct checked *checked, const char *what, const char *name, __u32 kind)
{
	add_line(checked, "%s %s: %s", what, name,
		 btf__find_by_name_kind(checked->kernel, name, kind) > 0 ? "there" : "none");
}

static int print_points(struct checked *checked)
{
	struct field found;

	for (int i = 0; i < checked->count; i++) {
		const struct access *access = &checked->accesses[i];

		if (is_question(access))
			add_line(checked, "field %s: %s", text_of(access->name, access),
				 find_field(checked, access, &found) ? "there" : "none");
	}
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++)
		for (const struct nt_candidate *way = nt_probes[probe].candidates; way->name; way++)
			for (const struct nt_attach_point *point = way->points; point->program; point++)
				add_point(checked, point);
	/* By these two the recorder knows that programs at tracepoints may be preempted (record/plan.c). */
	add_name(checked, "variable", "tracepoint_srcu_srcu_data", BTF_KIND_VAR);
	add_name(checked, "struct", "srcu_ctr", BTF_KIND_STRUCT);
	print_lines(checked);
	return 0;
}

int main(int argc, char **argv)
{
	struct checked checked = {0};
	int status;

	if (argc != 4 || (strcmp(argv[1], "faults") != 0 && strcmp(argv[1], "points") != 0))
		die("usage: kernel_types faults|points OBJECT TYPES");
	read_object(&checked, argv[2]);
	checked.kernel = btf__parse(argv[3], NULL);
	if (!checked.kernel)
		die("%s: no types: %s", argv[3], strerror(errno));
	status = !strcmp(argv[1], "faults") ? print_faults(&checked) : print_points(&checked);
	for (int i = 0; i < checked.lines_count; i++)
		free(checked.lines[i]);
	free(checked.lines);
	free(checked.accesses);
	btf__free(checked.ours);
	btf__free(checked.kernel);
	return status;
}
