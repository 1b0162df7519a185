/* note.h - notes that every ELF tool shows and none objects to: type
 * NT_VERSION, whose text is the note's name; no descriptor. A section of them
 * is a list of lines. */
#ifndef NSR_OBJECT_NOTE_H
#define NSR_OBJECT_NOTE_H

#include "object/wire.h"

/* The section in which a rewritten kernel explains itself. */
#define NSR_REWRITE_NOTE ".note.nsr.rewrite"

/* One line more at the end of a note section. */
void nsr_note_put(struct nsr_strbuf *b, const char *text);
/* The next line; NULL (and in->bad) where there is none, or no such note. */
const char *nsr_note_next(struct nsr_in *in);

#endif
