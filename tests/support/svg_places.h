/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * svg_places.h - where the parts of one of our pictures stand: as a reader sees it, but without drawing it.
 */
#pragma once

/*
 * Fails the test unless the picture has an end, each text, line and rectangle lies within the picture, no text lies on
 * another, and none in a rectangle of class plot. A text is taken to be narrower than fonts draw it. Gives the number
 * of texts.
 */
unsigned int svg_places_check(const char *svg);
