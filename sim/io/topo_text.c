/* topo_text.c - see topo_text.h. */
#include "io/topo_text.h"

#include "base/text.h"
#include "io/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINKS_MOST = 64 };

struct words {
    const char *at, *end; /* what is left of a line */
};

struct reading {
    struct input input;
    struct diag *diag;
    const char *next; /* the first line not yet read                                      */
    struct words line;
    const char *line_start;
    struct topo_matrix *matrix;
    const char *cell_at[LIMIT_TREE_DEVICES][LIMIT_TREE_DEVICES]; /* in the text         */
};

static struct place place_of(const struct reading *reading, const char *at, size_t width)
{
    return place_in_text(reading->input.name, reading->input.bytes, reading->input.byte_count,
                         (size_t)(at - reading->input.bytes), width);
}

/* ---- lines and words ---- */

static bool next_line(struct reading *reading)
{
    const char *end = reading->input.bytes + reading->input.byte_count;
    if (reading->next >= end) return false;
    const char *stop = memchr(reading->next, '\n', (size_t)(end - reading->next));
    if (stop == NULL) stop = end;
    reading->line_start = reading->next;
    reading->line = (struct words){ reading->next, stop };
    reading->next = stop + 1;
    return true;
}

/* Tabs, blanks, the end of a line of Windows, and colours: ESC [ ... m. */
static void skip_blank(struct words *words)
{
    while (words->at < words->end) {
        if (*words->at == ' ' || *words->at == '\t' || *words->at == '\r') {
            words->at++;
        } else if (*words->at == '\x1b') {
            while (words->at < words->end && *words->at != 'm') words->at++;
            words->at += words->at < words->end;
        } else {
            return;
        }
    }
}

/* The next word and its length; 0 at the end. */
static size_t next_word(struct words *words, const char **word)
{
    skip_blank(words);
    *word = words->at;
    while (words->at < words->end && !strchr(" \t\r\x1b", *words->at)) words->at++;
    return (size_t)(words->at - *word);
}

static bool is_word(const char *word, size_t bytes, const char *text)
{
    return bytes == strlen(text) && memcmp(word, text, bytes) == 0;
}

static bool is_gpu(const char *word, size_t bytes)
{
    return bytes > 3 && memcmp(word, "GPU", 3) == 0 && word[3] >= '0' && word[3] <= '9';
}

/* A path as the table writes it: NV12, PIX. */
static bool cell_of(const char *word, size_t bytes, uint8_t *cell, uint8_t *links)
{
    *links = 0;
    for (uint8_t i = 0; i < TOPO_CELLS; i++)
        if (i != TOPO_NVLINK && is_word(word, bytes, topo_cell_names[i])) {
            *cell = i;
            return true;
        }
    if (bytes < 3 || bytes > 4 || memcmp(word, "NV", 2) != 0) return false;
    uint32_t number = 0;
    for (size_t i = 2; i < bytes; i++) {
        if (word[i] < '0' || word[i] > '9') return false;
        number = 10 * number + (uint32_t)(word[i] - '0');
    }
    *cell = TOPO_NVLINK;
    *links = (uint8_t)number;
    return number >= 1 && number <= LINKS_MOST;
}

/* ---- the head ---- */

static bool has_name(const struct topo_matrix *matrix, const char *word, size_t bytes)
{
    for (uint32_t i = 0; i < matrix->gpus + matrix->nics; i++)
        if (is_word(word, bytes, matrix->name[i])) return true;
    return false;
}

static enum status take_name(struct reading *reading, const char *word, size_t bytes)
{
    struct topo_matrix *matrix = reading->matrix;
    const struct place at = place_of(reading, word, bytes);
    char safe[TOPO_NAME_BYTES * 4];
    const bool gpu = is_gpu(word, bytes);
    if (bytes >= TOPO_NAME_BYTES)
        return diag_error(reading->diag, at, "a device's name is longer than %d bytes",
                          TOPO_NAME_BYTES - 1);
    if (has_name(matrix, word, bytes))
        return diag_error(reading->diag, at, "the head names '%s' twice",
                          text_escape(word, bytes, safe, sizeof safe));
    if (gpu && matrix->nics > 0)
        return diag_error(reading->diag, at, "GPUs stand in front of NICs");
    if (gpu && matrix->gpus == LIMIT_GPUS_PER_SERVER)
        return diag_error(reading->diag, at, "more than %d GPUs in one server",
                          LIMIT_GPUS_PER_SERVER);
    if (!gpu && matrix->nics == LIMIT_TREE_NICS)
        return diag_error(reading->diag, at, "more than %d NICs in one server", LIMIT_TREE_NICS);
    text_copy(matrix->name[matrix->gpus + matrix->nics], TOPO_NAME_BYTES, word, bytes);
    if (gpu)
        matrix->gpus++;
    else
        matrix->nics++;
    return STATUS_OK;
}

/* The first line whose first word is a GPU and whose second is no cell: what it calls the devices. */
static bool is_head(struct words words)
{
    const char *word;
    uint8_t cell, links;
    size_t bytes = next_word(&words, &word);
    if (!is_gpu(word, bytes)) return false;
    bytes = next_word(&words, &word);
    return !cell_of(word, bytes, &cell, &links);
}

static enum status read_head(struct reading *reading)
{
    while (next_line(reading)) {
        if (!is_head(reading->line)) continue;
        const char *word;
        size_t bytes;
        while ((bytes = next_word(&reading->line, &word)) > 0) {
            if (is_word(word, bytes, "CPU") || is_word(word, bytes, "NUMA")) return STATUS_OK;
            TRY(take_name(reading, word, bytes));
        }
        return STATUS_OK;
    }
    return diag_error(reading->diag, (struct place){ .file = reading->input.name },
                      "no table of nvidia-smi topo -m: no line begins with GPU0 and names the "
                      "other devices");
}

/* ---- rows ---- */

/* Columns of text behind the cells, told apart by tabs; blanks where there are no tabs. */
static void take_affinity(struct words *words, char out[TOPO_AFFINITY_BYTES])
{
    while (words->at < words->end && *words->at == ' ') words->at++; /* behind an X */
    if (words->at < words->end && *words->at == '\t') words->at++;
    const char *start = words->at;
    const size_t left = (size_t)(words->end - words->at);
    const char *tab = memchr(start, '\t', left);
    words->at = tab ? tab : words->end;
    struct words field = { start, words->at };
    const char *word;
    const size_t bytes = next_word(&field, &word);
    if (bytes > 0 && !is_word(word, bytes, "N/A") && bytes < TOPO_AFFINITY_BYTES)
        text_copy(out, TOPO_AFFINITY_BYTES, word, bytes);
    if (tab == NULL) words->at = field.at; /* blanks: the next word is the next column */
}

static enum status take_cell(struct reading *reading, uint32_t row, uint32_t column)
{
    struct topo_matrix *matrix = reading->matrix;
    const char *word;
    char safe[64];
    const size_t bytes = next_word(&reading->line, &word);
    reading->cell_at[row][column] = word;
    if (bytes == 0)
        return diag_error(reading->diag, place_of(reading, reading->line_start, 1),
                          "the row of %s ends after %" PRIu32 " of %" PRIu32 " cells",
                          matrix->name[row], column, matrix->gpus + matrix->nics);
    uint8_t links;
    if (!cell_of(word, bytes, &matrix->cell[row][column], &links))
        return diag_error(reading->diag, place_of(reading, word, bytes),
                          "'%s' is no path; known: X, NV1 to NV%d, PIX, PXB, PHB, NODE, SYS",
                          text_escape(word, bytes < 12 ? bytes : 12, safe, sizeof safe),
                          LINKS_MOST);
    if ((matrix->cell[row][column] == TOPO_SELF) != (row == column))
        return diag_error(reading->diag, place_of(reading, word, bytes),
                          row == column ? "the cell of %s and itself must be X"
                                        : "X stands in the row of %s, but not at itself",
                          matrix->name[row]);
    if (links > 0 && (row >= matrix->gpus || column >= matrix->gpus))
        return diag_error(reading->diag, place_of(reading, word, bytes),
                          "NVLinks join GPUs, not NICs");
    if (links > 0) matrix->nvlinks[row][column] = links;
    return STATUS_OK;
}

static enum status read_row(struct reading *reading, uint32_t row)
{
    struct topo_matrix *matrix = reading->matrix;
    const char *word = "";
    char safe[TOPO_NAME_BYTES * 4];
    size_t bytes = 0;
    bool more = true;
    while (bytes == 0 && (more = next_line(reading))) bytes = next_word(&reading->line, &word);
    if (!more)
        return diag_error(reading->diag, (struct place){ .file = reading->input.name },
                          "the file ends where the row of %s should be", matrix->name[row]);
    if (!is_word(word, bytes, matrix->name[row]))
        return diag_error(reading->diag, place_of(reading, word, bytes),
                          "expected the row of %s, got '%s'", matrix->name[row],
                          text_escape(word, bytes < TOPO_NAME_BYTES ? bytes : TOPO_NAME_BYTES, safe,
                                      sizeof safe));
    for (uint32_t column = 0; column < matrix->gpus + matrix->nics; column++)
        TRY(take_cell(reading, row, column));
    if (row >= matrix->gpus) return STATUS_OK;
    take_affinity(&reading->line, matrix->cpu_affinity[row]);
    take_affinity(&reading->line, matrix->numa_affinity[row]);
    return STATUS_OK;
}

/* ---- the whole ---- */

static enum status check_symmetric(const struct reading *reading)
{
    const struct topo_matrix *matrix = reading->matrix;
    for (uint32_t a = 0; a < matrix->gpus + matrix->nics; a++)
        for (uint32_t b = 0; b < a; b++) {
            const bool same = matrix->cell[a][b] == matrix->cell[b][a] &&
                              (a >= matrix->gpus || matrix->nvlinks[a][b] == matrix->nvlinks[b][a]);
            if (same) continue;
            return diag_error(reading->diag, place_of(reading, reading->cell_at[a][b], 2),
                              "%s to %s is another path than %s to %s", matrix->name[a],
                              matrix->name[b], matrix->name[b], matrix->name[a]);
        }
    return STATUS_OK;
}

static enum status read_all(struct reading *reading, struct server_tree *tree)
{
    struct topo_matrix *matrix = reading->matrix;
    TRY(read_head(reading));
    for (uint32_t row = 0; row < matrix->gpus + matrix->nics; row++) TRY(read_row(reading, row));
    TRY(check_symmetric(reading));
    uint32_t a, b, via;
    if (tree_of_matrix(matrix, tree, &a, &b, &via)) return STATUS_OK;
    return diag_error(reading->diag, place_of(reading, reading->cell_at[a][b], 3),
                      "no server is wired so: %s and %s are %s apart, but over %s they are nearer",
                      matrix->name[a], matrix->name[b], topo_cell_names[matrix->cell[a][b]],
                      matrix->name[via]);
}

enum status topo_read(const char *path, struct topo_matrix *matrix, struct server_tree *tree,
                      struct diag *diag)
{
    struct reading *reading = calloc(1, sizeof *reading);
    if (reading == NULL) return diag_world(diag, "%s: out of memory", path);
    memset(matrix, 0, sizeof *matrix);
    reading->diag = diag;
    reading->matrix = matrix;
    enum status status = input_read(path, &reading->input, diag);
    if (status == STATUS_OK) {
        const char *nul = memchr(reading->input.bytes, '\0', reading->input.byte_count);
        reading->next = reading->input.bytes;
        status = nul ? diag_error(diag, place_of(reading, nul, 1), "a NUL byte: this is no text")
                     : read_all(reading, tree);
    }
    input_clear(&reading->input);
    free(reading);
    return status;
}
