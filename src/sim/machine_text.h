/* machine_text.h - the machine files shipped in isa/, as text: isagen embeds
 * them in the generated tables, under their file names without ".machine".
 */
#ifndef NSR_SIM_MACHINE_TEXT_H
#define NSR_SIM_MACHINE_TEXT_H

struct nsr_machine_text {
  const char *name, *text;
};

/* Ends with an entry whose name is NULL. */
extern const struct nsr_machine_text nsr_machine_texts[];

#endif
