/* completion.h - what shells and man(1) want to know of the commands, from the tables that parse. */
#ifndef GPUPLAN_CLI_COMPLETION_H
#define GPUPLAN_CLI_COMPLETION_H

#include <stdio.h>

/* A function for bash (4 and later) that completes commands, options and files. */
void completion_bash(FILE *out);

/* The same for zsh: a file _gpuplan of a folder in $fpath. */
void completion_zsh(FILE *out);

/* The manual page gpuplan(1) in the man macros of roff. */
void manpage_write(FILE *out);

/* Which files complete an operand or a value of this name: SCENARIO, DB, FILE, FOLDER. */
enum file_kind { FILES_NONE, FILES_SCENARIO, FILES_DB, FILES_ANY, FILES_FOLDER };
enum file_kind completion_files(const char *name);

#endif
