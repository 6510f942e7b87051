/* yaml_file.c - the bytes of a file, up to the cap; a name in .json is read as JSON. */
#include "io/yaml.h"

#include "io/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Reads a regular file or a pipe up to the cap. The caller frees *text. */
static enum status slurp(const char *path, char **text, size_t *text_bytes, struct diag *diag)
{
    struct stat about;
    FILE *file = fopen(path, "rbe");
    if (file == NULL) return diag_world(diag, "%s: %s", path, strerror(errno));
    if (fstat(fileno(file), &about) != 0 || S_ISDIR(about.st_mode)) {
        fclose(file);
        return diag_world(diag, "%s: is a directory", path);
    }
    *text = malloc(LIMIT_YAML_BYTES + 1);
    *text_bytes = *text ? fread(*text, 1, LIMIT_YAML_BYTES + 1, file) : 0;
    const bool failed = *text == NULL || ferror(file) != 0;
    fclose(file);
    if (failed) return diag_world(diag, "%s: cannot be read", path);
    if (*text_bytes > LIMIT_YAML_BYTES)
        return diag_error(diag, (struct place){ .file = path }, "larger than 16 MiB");
    return STATUS_OK;
}

enum status yaml_read_file(const char *path, struct yaml_document *document, struct diag *diag)
{
    *document = (struct yaml_document){ .file = path };
    char *text = NULL;
    size_t text_bytes = 0;
    enum status status = slurp(path, &text, &text_bytes, diag);
    if (status == STATUS_OK)
        status = json_is_name(path) ? json_read_text(path, text, text_bytes, document, diag)
                                    : yaml_read_text(path, text, text_bytes, document, diag);
    free(text);
    return status;
}
