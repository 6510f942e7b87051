/* plot.c - see plot.h. */
#include "report/plot.h"

#include "base/text.h"
#include "report/plot_child.h"
#include "report/plot_kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COLUMNS_DEFAULT = 100, WIDTH_PX = 1080, STEM_BYTES = 100 };

const char *const plot_kind_names[PLOT_KINDS + 1] = { "utilization",   "stall",   "blast", "wait",
                                                      "fragmentation", "tornado", NULL };
const char *const plot_format_names[PLOT_FORMATS + 1] = { "svg", "png", "pdf", "term", NULL };

static bool (*const draw[PLOT_KINDS])(struct canvas *canvas, const struct plot_data *data) = {
    [PLOT_UTILIZATION] = plot_utilization_draw,
    [PLOT_STALL] = plot_stall_draw,
    [PLOT_BLAST] = plot_blast_draw,
    [PLOT_WAIT] = plot_wait_draw,
    [PLOT_FRAGMENTATION] = plot_fragmentation_draw,
    [PLOT_TORNADO] = plot_tornado_draw,
};

/* gnuplot's text starts with a form feed and pads each line to the full width. */
static size_t trim_text(char *text, size_t count)
{
    size_t kept = 0, line_end = 0; /* line_end: behind the last character that is no space */
    for (size_t i = 0; i < count; i++) {
        if (text[i] == '\f') continue;
        if (text[i] == '\n') kept = line_end;
        text[kept++] = text[i];
        if (text[i] != ' ') line_end = kept;
    }
    return line_end;
}

/* gnuplot names the font as it was given, which a browser does not know with ":Bold" and may not
 * have at all: it would take a serif font that is too wide. Verdana has the widths of DejaVu Sans. */
static bool svg_fonts(char **bytes, size_t *count)
{
    static const struct {
        const char *from, *to;
    } fonts[] = {
        { "font-family=\"DejaVu Sans:Bold\"",
          "font-family=\"DejaVu Sans, Verdana, sans-serif\" font-weight=\"bold\"" },
        { "font-family=\"DejaVu Sans\"", "font-family=\"DejaVu Sans, Verdana, sans-serif\"" },
    };
    char *changed = NULL;
    size_t changed_count = 0;
    FILE *out = open_memstream(&changed, &changed_count);
    if (!out) return false;
    bool in_tag = false; /* what stands in a text is left alone */
    for (size_t i = 0; i < *count;) {
        const char *at = *bytes + i;
        const size_t left = *count - i;
        size_t font = 0, bytes_of_font = 0;
        if (*at == '<') in_tag = true;
        if (*at == '>') in_tag = false;
        for (; in_tag && font < 2; font++) {
            bytes_of_font = strlen(fonts[font].from);
            if (left > bytes_of_font && memcmp(at, fonts[font].from, bytes_of_font) == 0) break;
        }
        if (in_tag && font < 2) {
            fputs(fonts[font].to, out);
            i += bytes_of_font;
        } else {
            putc(*at, out);
            i++;
        }
    }
    if (fclose(out) != 0) return false;
    free(*bytes);
    *bytes = changed;
    *count = changed_count;
    return true;
}

/* The picture of a script that `drawing` writes into the canvas' folder. */
static enum status render(plot_drawing *drawing, const void *what, struct canvas *canvas,
                          char **bytes, size_t *count, struct diag *diag)
{
    *bytes = NULL;
    *count = 0;
    TRY(plot_folder_make(canvas->folder, sizeof canvas->folder, diag));
    enum status status = STATUS_OK;
    if (!drawing(canvas, what))
        status = diag_world(diag,
                            "the script for gnuplot cannot be written in %s: disk full, or"
                            " out of memory",
                            canvas->folder);
    if (status == STATUS_OK) status = plot_child_run(canvas->folder, diag);
    if (status == STATUS_OK) status = plot_child_picture(canvas->folder, bytes, count, diag);
    plot_folder_remove(canvas->folder);
    if (status != STATUS_OK) return status;
    if (canvas->cells) *count = trim_text(*bytes, *count);
    if (canvas->format != PLOT_SVG || svg_fonts(bytes, count)) return STATUS_OK;
    free(*bytes);
    *bytes = NULL;
    return diag_world(diag, "out of memory");
}

struct kind_of_data {
    enum plot_kind kind;
    const struct plot_data *data;
};

static bool draw_kind(struct canvas *canvas, const void *what)
{
    const struct kind_of_data *of = what;
    return draw[of->kind](canvas, of->data);
}

enum status plot_render(const struct plot_data *data, enum plot_kind kind, enum plot_format format,
                        uint32_t columns, char **bytes, size_t *count, struct diag *diag)
{
    struct canvas canvas = { .format = format, .cells = format == PLOT_TERM };
    const struct kind_of_data of = { kind, data };
    canvas.width = WIDTH_PX;
    if (canvas.cells) canvas.width = columns ? columns : COLUMNS_DEFAULT;
    return render(draw_kind, &of, &canvas, bytes, count, diag);
}

/* ---- names ---- */

/* Length of a path without the ending of its file name. */
static size_t without_ending(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? (size_t)(dot - path) : strlen(path);
}

static void make_stem(const char *db_path, char out[STEM_BYTES])
{
    const char *slash = strrchr(db_path, '/');
    const char *name = slash ? slash + 1 : db_path;
    size_t bytes = without_ending(db_path) - (size_t)(name - db_path);
    if (bytes >= STEM_BYTES) bytes = STEM_BYTES - 1;
    for (size_t i = 0; i < bytes; i++) {
        const char c = name[i];
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || (i > 0 && strchr("._-", c));
        out[i] = plain ? c : '_';
    }
    out[bytes] = '\0';
}

static enum status make_folder(const struct plot_request *request, char *out, size_t out_bytes,
                               struct diag *diag)
{
    const char *path = request->folder ? request->folder : request->db_path;
    const size_t bytes = request->folder ? strlen(path) : without_ending(path);
    const char *ending = request->folder ? "" : "-plots";
    const int length = snprintf(out, out_bytes, "%.*s%s", (int)bytes, path, ending);
    if (length <= 0 || (size_t)length >= out_bytes)
        return diag_world(diag, "the folder's name is empty or too long: '%s'", path);
    if (mkdir(out, 0777) == 0 || errno == EEXIST) return STATUS_OK;
    return diag_world(diag, "the folder %s cannot be made: %s", out, strerror(errno));
}

/* ---- files ---- */

static bool write_all(int file, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(file, bytes, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

/* Writes beside the name and renames. */
static enum status put_file(const char *path, const char *bytes, size_t count, struct diag *diag)
{
    char beside[LIMIT_PATH_BYTES];
    if (snprintf(beside, sizeof beside, "%s.XXXXXX", path) >= (int)sizeof beside)
        return diag_world(diag, "the file's name is too long: %s", path);
    const int file = mkostemp(beside, O_CLOEXEC);
    if (file < 0) return diag_world(diag, "%s cannot be written: %s", path, strerror(errno));
    const mode_t mask = umask(0);
    umask(mask);
    bool written =
        fchmod(file, 0666 & ~mask) == 0 && write_all(file, bytes, count) && fsync(file) == 0;
    int reason = errno;
    if (close(file) != 0 && written) {
        reason = errno;
        written = false;
    }
    if (written && rename(beside, path) == 0) return STATUS_OK;
    if (written) reason = errno;
    unlink(beside);
    return diag_world(diag, "%s cannot be written: %s", path, strerror(reason));
}

enum status plot_file(plot_drawing *drawing, const void *what, enum plot_format format,
                      const char *path, struct diag *diag)
{
    struct canvas canvas = { .format = format, .width = WIDTH_PX };
    char *bytes;
    size_t count;
    TRY(render(drawing, what, &canvas, &bytes, &count, diag));
    const enum status status = put_file(path, bytes, count, diag);
    free(bytes);
    return status;
}

/* Puts a picture into the folder, which is made for the first. */
static enum status keep_picture(const struct plot_request *request, const char *kind,
                                const char *format, const char *bytes, size_t count, FILE *out,
                                struct diag *diag)
{
    char folder[LIMIT_PATH_BYTES], path[LIMIT_PATH_BYTES], stem[STEM_BYTES],
        shown[LIMIT_PATH_BYTES];
    TRY(make_folder(request, folder, sizeof folder, diag));
    make_stem(request->db_path, stem);
    const int length = snprintf(path, sizeof path, "%s/%s-%s.%s", folder, stem, kind, format);
    if (length >= (int)sizeof path)
        return diag_world(diag, "the folder's name is too long: %s", folder);
    TRY(put_file(path, bytes, count, diag));
    fprintf(out, "%s\n", text_escape(path, strlen(path), shown, sizeof shown));
    return STATUS_OK;
}

static enum status make_one(const struct plot_request *request, const struct plot_data *data,
                            enum plot_kind kind, enum plot_format format, FILE *out,
                            struct diag *diag)
{
    char *bytes = NULL;
    size_t count = 0;
    enum status status = STATUS_OK;
    TRY(plot_render(data, kind, format, request->columns, &bytes, &count, diag));
    if (format == PLOT_TERM) {
        fwrite(bytes, 1, count, out);
        fputs("\n\n", out);
    } else {
        status = keep_picture(request, plot_kind_names[kind], plot_format_names[format], bytes,
                              count, out, diag);
    }
    free(bytes);
    return status;
}

static enum status make_all(const struct plot_request *request, const struct plot_data *data,
                            FILE *out, struct diag *diag)
{
    for (int kind = 0; kind < PLOT_KINDS; kind++)
        for (int format = 0; format < PLOT_FORMATS; format++)
            if ((request->kinds & 1u << kind) && (request->formats & 1u << format))
                TRY(make_one(request, data, (enum plot_kind)kind, (enum plot_format)format, out,
                             diag));
    if (fflush(out) != 0 && errno != EPIPE)
        return diag_world(diag, "standard output: %s", strerror(errno));
    return STATUS_OK;
}

enum status plot_write(const struct plot_request *request, FILE *out, struct diag *diag)
{
    struct plot_data *data = malloc(sizeof *data);
    if (!data) return diag_world(diag, "the plots need more memory than there is");
    enum status status = plot_data_read(request->db_path, data, diag);
    if (status == STATUS_OK) {
        status = make_all(request, data, out, diag);
        plot_data_clear(data);
    }
    free(data);
    return status;
}
