/* gen_edit.h - the commands of nsync-gen that work on a kernel's file. Each
 * gets the command line behind its name, and returns the exit code. */
#ifndef NSR_TOOLS_GEN_EDIT_H
#define NSR_TOOLS_GEN_EDIT_H

int gen_mutate(int argc, char **argv);
int gen_shrink(int argc, char **argv);

#endif
