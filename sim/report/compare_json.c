/* compare_json.c - see compare_json.h. */
#include "report/compare_json.h"

#include "base/text.h"
#include "report/prose.h"
#include "report/verdict.h"

#include <jansson.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NaN and infinity have no form in JSON. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Text that is not UTF-8 is shown escaped. */
static json_t *text_of(const char *text)
{
    json_t *plain = json_string(text);
    if (plain != NULL) return plain;
    char safe[4096];
    return json_string(text_escape(text, strlen(text), safe, sizeof safe));
}

/* json_pack and the appends return failure when memory is out; it reaches the root as NULL. */
static json_t *blasts_of(const struct comparison *c, uint32_t layout)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < BLAST_ROWS; i++) {
        const struct blast *blast = &c->blasts[layout * BLAST_ROWS + i];
        const struct interval apart = comparison_blast_apart(c, layout, i);
        json_t *row =
            json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "incidents",
                      (json_int_t)blast->incidents, "incidents_took_none",
                      (json_int_t)blast->took_none, "per_year", number(blast->per_year), "gpus_p50",
                      number(blast->p50), "gpus_p95", number(blast->p95), "gpus_max",
                      number(blast->max), "gpus_mean", number(blast->mean.mean), "gpus_mean_half",
                      number(blast->mean.half), "gpus_mean_difference", number(apart.mean),
                      "gpus_mean_difference_half", number(apart.half));
        const char *name = i == BLAST_PARTS ? "hardware" : stored_component_name(i);
        if (json_object_set_new(object, name, row) == 0) continue;
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *relative_of(struct interval large)
{
    return json_pack("{s:o, s:o, s:I}", "relative", number(large.mean), "half", number(large.half),
                     "pairs", (json_int_t)large.n);
}

static json_t *large_of(const struct comparison *c, uint32_t layout)
{
    const uint32_t base = c->baseline[layout];
    if (base == LAYOUT_NONE || base == layout) return json_null();
    return relative_of(comparison_large(c, layout, base, c->conf_difference));
}

static json_t *layout_of(const struct comparison *c, uint32_t layout)
{
    const struct stored_layout *row = &c->stored->layouts[layout];
    json_t *slack = row->slack < 0 ? json_string("any") : json_integer(row->slack);
    return json_pack(
        "{s:o, s:o, s:b, s:o, s:b, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:o, "
        "s:o, "
        "s:o}",
        "name", text_of(row->name), "slack", slack, "baseline", c->baseline[layout] == layout,
        "server_type", text_of(row->server_type), "hypothetical", row->hypothetical, "gpu_type",
        text_of(row->gpu_type), "link_type", text_of(row->link_type), "fabric_type",
        text_of(row->fabric_type), "servers", (json_int_t)row->servers, "gpus_per_server",
        (json_int_t)row->gpus_per_server, "gpus", (json_int_t)row->gpus, "replicas",
        (json_int_t)c->replicas[layout], "offered_load", number(c->load[layout]), "effective_load",
        number(c->needs[layout]), "jobs_never_fit", (json_int_t)row->jobs_never_fit,
        "never_fit_gpu_h", number(row->unserved_gpu_s / 3600), "blast_years",
        number(c->blasts[layout * BLAST_ROWS].years), "blast", blasts_of(c, layout),
        "completion_large", large_of(c, layout));
}

static json_t *cell_of(const struct cell *cell)
{
    return json_pack("{s:o, s:o, s:I, s:I, s:o, s:o, s:I, s:o, s:o}", "mean",
                     number(cell->value.mean), "half", number(cell->value.half), "n",
                     (json_int_t)cell->value.n, "missing", (json_int_t)cell->missing, "difference",
                     number(cell->pair.difference.mean), "difference_half",
                     number(cell->pair.difference.half), "pairs",
                     (json_int_t)cell->pair.difference.n, "variance_ratio",
                     number(cell->pair.var_ratio), "relative", number(cell->relative));
}

static json_t *metric_of(const struct comparison *c, const struct quantity *quantity)
{
    json_t *cells = json_array();
    int failed = 0;
    for (uint32_t layout = 0; layout < c->layout_count; layout++)
        failed |= json_array_append_new(cells, cell_of(&quantity->cells[layout]));
    if (failed != 0) {
        json_decref(cells);
        return NULL;
    }
    const bool all = quantity->class_ == CLASS_NONE;
    return json_pack("{s:o, s:s, s:o, s:o}", "name", text_of(quantity->name), "class",
                     all ? "all" : class_names[quantity->class_], "unit", text_of(quantity->unit),
                     "layouts", cells);
}

static json_t *turned_of(const struct comparison *c, struct turned turned)
{
    json_t *layout = turned.layout == LAYOUT_NONE ? json_null()
                                                  : text_of(c->stored->layouts[turned.layout].name);
    return json_pack("{s:s, s:b, s:o}", "turn", turn_name(turned.turn), "turned",
                     turn_turns(turned.turn), "layout", layout);
}

static json_t *moved_layout_of(const struct comparison *c, const struct move *move, uint32_t layout)
{
    const struct moved_layout *row = &move->layouts[layout];
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                     text_of(c->stored->layouts[layout].name), "yield", number(row->yield.mean),
                     "half", number(row->yield.half), "difference", number(row->difference.mean),
                     "difference_half", number(row->difference.half), "effective_load",
                     number(row->needs), "completion_large",
                     row->later.n > 0 ? relative_of(row->later) : json_null());
}

static json_t *move_of(const struct comparison *c, const struct move *move)
{
    json_t *layouts = json_array();
    int failed = 0;
    for (uint32_t i = 0; i < c->layout_count; i++)
        if (c->stored->layouts[i].slack == c->stored->layouts[0].slack)
            failed |= json_array_append_new(layouts, moved_layout_of(c, move, i));
    if (failed != 0) {
        json_decref(layouts);
        return NULL;
    }
    return json_pack("{s:o, s:o, s:s, s:I, s:o, s:o, s:o}", "axis", text_of(move->axis), "factor",
                     number(move->factor), "mark", move->mark, "replicas", (json_int_t)move->pairs,
                     "yield", turned_of(c, move->yield), "completion_large",
                     turned_of(c, move->large), "layouts", layouts);
}

/* How many rows of the log there were, and which were left out. */
static json_t *log_of(const struct comparison *c)
{
    const struct stored_import *rows = LOG_ITEMS(&c->stored->imports, const struct stored_import);
    json_t *skipped = json_array();
    json_int_t read = 0;
    int failed = 0;
    for (uint64_t i = 0; i < c->stored->imports.count; i++) {
        if (strcmp(rows[i].outcome, "read") == 0) read += (json_int_t)rows[i].rows;
        if (strcmp(rows[i].outcome, "skipped") != 0) continue;
        failed |= json_array_append_new(skipped,
                                        json_pack("{s:o, s:I}", "reason", text_of(rows[i].reason),
                                                  "rows", (json_int_t)rows[i].rows));
    }
    if (failed != 0) {
        json_decref(skipped);
        return NULL;
    }
    return json_pack("{s:I, s:o}", "rows", read, "skipped", skipped);
}

static json_t *verdict_of(const struct comparison *c, const struct moves *moves)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);
    if (memory == NULL) return NULL;
    verdict_write(c, moves, memory);
    fclose(memory);
    json_t *value = text != NULL ? json_string(text) : NULL;
    free(text);
    return value;
}

/* The whole object, or NULL when memory is out. */
static json_t *root_of(const struct comparison *c, const struct moves *moves)
{
    json_t *layouts = json_array(), *metrics = json_array(), *rows = json_array();
    const char *name = stored_meta(c->stored, "name"), *version = stored_meta(c->stored, "version");
    int failed = 0;
    for (uint32_t i = 0; i < c->layout_count; i++)
        failed |= json_array_append_new(layouts, layout_of(c, i));
    for (uint32_t i = 0; i < c->quantity_count; i++)
        failed |= json_array_append_new(metrics, metric_of(c, &c->quantities[i]));
    for (uint32_t i = 0; i < moves->count; i++)
        failed |= json_array_append_new(rows, move_of(c, &moves->rows[i]));
    if (failed != 0) {
        json_decref(layouts);
        json_decref(metrics);
        json_decref(rows);
        return NULL;
    }
    return json_pack("{s:o, s:o, s:b, s:b, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "version",
                     text_of(version != NULL ? version : ""), "scenario",
                     text_of(name != NULL ? name : ""), "complete", c->complete, "exact", c->exact,
                     "common_jobs", c->common, "replicas", (json_int_t)c->replica_count,
                     "confidence", number(c->conf), "confidence_difference",
                     number(c->conf_difference), "log", log_of(c), "verdict", verdict_of(c, moves),
                     "layouts", layouts, "moves", rows, "metrics", metrics);
}

enum status compare_json(const struct comparison *c, const struct moves *moves, FILE *out,
                         struct diag *diag)
{
    json_t *root = root_of(c, moves);
    if (root == NULL) return diag_world(diag, "out of memory while writing JSON");
    char *text = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    if (text == NULL) return diag_world(diag, "the comparison cannot be written as JSON");
    fprintf(out, "%s\n",
            text); /* who flushes it says what became of it: a reader that has gone is no error */
    free(text);
    return STATUS_OK;
}
