// SPDX-License-Identifier: GPL-2.0-only
/*
 * schema_tables.c - prints those tables of docs/sql-schema.md that follow from NT_TABLES and NT_KINDS, as Markdown:
 * schema_tables rows|blocks|kinds. tests/cli/schema_doc.sh compares the page with them, and writes them with UPDATE=1.
 */
#include <stdio.h>
#include <string.h>

#include "report/rows/tables.h"
#include "schema/kind.h"

static const char *part_of(enum nt_kept kept)
{
	switch (kept) {
	case NT_KEPT_ALWAYS:
		return "always";
	case NT_KEPT_WITHOUT_SUMS:
		return "`--tables`";
	case NT_KEPT_WITH_SUMS:
		return "`--sums`";
	default:
		return "";
	}
}

static void print_rows(void)
{
	puts("| table | a row is | in databases of a part |\n|---|---|---|");
	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		const struct nt_table *table = nt_table((enum nt_table_id)id);

		printf("| [%s](#%s) | %s | %s |\n", table->name, table->name, table->what, part_of(table->kept));
	}
}

/* A row of the tables and the words, or several: no line may be longer than the page's. */
static void print_row(uint64_t tables, const char *words)
{
	int width = 0;

	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		if (!(tables >> id & 1))
			continue;
		if (width > 70) {
			printf(" | %s |\n", words);
			width = 0;
		}
		width += printf("%s `%s`", width ? "" : "|", nt_table((enum nt_table_id)id)->name);
	}
	printf(" | %s |\n", words);
}

/* Sources that follow one another with the same words are one line. */
static void print_blocks(void)
{
	static const char *const blocks[] = {
#define X(constant, text) text,
		NT_SOURCES(X)
#undef X
	};

	puts("| tables | blocks with events that are read |\n|---|---|");
	for (unsigned int source = 0; source < NT_SOURCE_COUNT;) {
		const unsigned int first = source;
		uint32_t sources = 0;

		while (source < NT_SOURCE_COUNT && !strcmp(blocks[source], blocks[first]))
			sources |= NT_SOURCE_BIT(source++);
		print_row(nt_tables_of(sources), blocks[first]);
	}
}

static void print_kinds_at(enum nt_kind_place place)
{
	int width = 0;

	for (unsigned int number = 0; number < NT_KIND_MAX; number++) {
		const struct nt_kind_info *kind = nt_kind(number);

		if (!kind || kind->place != place)
			continue;
		if (width > 90) {
			fputs(" |\n| |", stdout);
			width = 0;
		}
		width += printf(" `%s`", kind->name);
	}
	puts(" |");
}

static void print_kinds(void)
{
	fputs("| kinds | |\n|---|---|\n| of the timeline |", stdout);
	print_kinds_at(NT_PLACE_TIMELINE);
	fputs("| loose |", stdout);
	print_kinds_at(NT_PLACE_LOOSE);
}

int main(int argc, char **argv)
{
	const char *name = argc == 2 ? argv[1] : "";

	if (!strcmp(name, "rows"))
		print_rows();
	else if (!strcmp(name, "blocks"))
		print_blocks();
	else if (!strcmp(name, "kinds"))
		print_kinds();
	else
		return 2;
	return 0;
}
