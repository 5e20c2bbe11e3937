// SPDX-License-Identifier: GPL-2.0-only
/* svg_places.c - see svg_places.h: reads tags one after another, as the pictures write them. */
#include "tests/support/svg_places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BOXES 4096
#define MAX_DEPTH 16

struct box {
	double left, top, right, bottom;
	const char *tag; /* in the picture's text */
};

struct boxes {
	struct box all[MAX_BOXES];
	unsigned int n;
};

struct places {
	struct box picture;
	struct boxes texts, plots;
	double x[MAX_DEPTH], y[MAX_DEPTH]; /* of the groups around a part, the outermost first */
	unsigned int depth;
};

/* The value of an attribute; NULL: the tag does not have it. */
static const char *attribute(const char *tag, const char *name)
{
	char part[32];
	const char *at;

	snprintf(part, sizeof(part), " %s=\"", name);
	at = strstr(tag, part);
	return at && at < strchr(tag, '>') ? at + strlen(part) : NULL;
}

static double number(const char *tag, const char *name, double otherwise)
{
	const char *value = attribute(tag, name);

	return value ? strtod(value, NULL) : otherwise;
}

static void take(struct places *places, struct boxes *boxes, struct box box)
{
	const double x = places->x[places->depth], y = places->y[places->depth];

	box = (struct box){box.left + x, box.top + y, box.right + x, box.bottom + y, box.tag};
	if (box.left < 0 || box.top < 0 || box.right > places->picture.right || box.bottom > places->picture.bottom)
		fail_msg("is not within the picture: %.200s", box.tag);
	if (boxes) {
		assert_true(boxes->n < MAX_BOXES);
		boxes->all[boxes->n++] = box;
	}
}

static void take_text(struct places *places, const char *tag)
{
	const char *content = strchr(tag, '>') + 1, *anchor = attribute(tag, "text-anchor");
	double size = number(tag, "font-size", 12), width = 0.4 * size * (double)strcspn(content, "<");
	double x = number(tag, "x", 0), y = number(tag, "y", 0);

	if (anchor)
		x -= *anchor == 'm' ? width / 2 : width;
	take(places, &places->texts, (struct box){x, y - 0.7 * size, x + width, y, tag});
}

static void take_rect(struct places *places, const char *tag)
{
	const char *class = attribute(tag, "class");
	double x = number(tag, "x", 0), y = number(tag, "y", 0);

	if (attribute(tag, "width")[strspn(attribute(tag, "width"), "0123456789.")] == '%')
		return; /* the background */
	take(places, class && !strncmp(class, "plot", 4) ? &places->plots : NULL,
	     (struct box){x, y, x + number(tag, "width", 0), y + number(tag, "height", 0), tag});
}

static void enter(struct places *places, const char *tag)
{
	const char *transform = attribute(tag, "transform");
	double x = 0, y = 0;

	if (transform)
		assert_int_equal(sscanf(transform, "translate(%lf %lf)", &x, &y), 2);
	assert_true(++places->depth < MAX_DEPTH);
	places->x[places->depth] = places->x[places->depth - 1] + x;
	places->y[places->depth] = places->y[places->depth - 1] + y;
}

static void take_tag(struct places *places, const char *tag)
{
	if (!strncmp(tag, "<svg", 4))
		assert_int_equal(sscanf(attribute(tag, "viewBox"), "0 0 %lf %lf", &places->picture.right,
					&places->picture.bottom),
				 2);
	else if (!strncmp(tag, "<g", 2))
		enter(places, tag);
	else if (!strncmp(tag, "</g", 3))
		assert_true(places->depth-- > 0);
	else if (!strncmp(tag, "<text", 5))
		take_text(places, tag);
	else if (!strncmp(tag, "<rect", 5))
		take_rect(places, tag);
	else if (!strncmp(tag, "<line", 5))
		take(places, NULL,
		     (struct box){number(tag, "x1", 0), number(tag, "y1", 0), number(tag, "x2", 0),
				  number(tag, "y2", 0), tag});
}

/* Of the `n` others. */
static void lies_on_none(const struct box *text, const struct box *others, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (text->left < others[i].right && others[i].left < text->right && text->top < others[i].bottom &&
		    others[i].top < text->bottom)
			fail_msg("lies on another part: %.120s\nthat is: %.120s", text->tag, others[i].tag);
	}
}

unsigned int svg_places_check(const char *svg)
{
	struct places *places = calloc(1, sizeof(*places));
	const char *script = strstr(svg, "<script>");
	unsigned int n_texts;

	assert_non_null(places);
	for (const char *tag = svg; (tag = strchr(tag, '<')) && (!script || tag < script); tag++)
		take_tag(places, tag);
	assert_int_equal(places->depth, 0);
	assert_string_equal(strrchr(svg, '<'), "</svg>\n");
	assert_true(places->picture.right > 0);
	n_texts = places->texts.n;
	for (unsigned int i = 0; i < n_texts; i++) {
		lies_on_none(&places->texts.all[i], places->texts.all, i);
		lies_on_none(&places->texts.all[i], places->plots.all, places->plots.n);
	}
	free(places);
	return n_texts;
}
