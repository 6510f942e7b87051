/* inventory.c - see inventory.h. */
#include "io/inventory.h"

#include "base/text.h"
#include "io/csv.h"
#include "io/input.h"
#include "io/trace_number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum column { COLUMN_NAME, COLUMN_CPU, COLUMN_MEMORY, COLUMN_GPUS, COLUMN_MODEL, COLUMNS };

static const char *const names[COLUMNS] = { "sn", "cpu_milli", "memory_mib", "gpu", "model" };
static const double NIC_BYTES_PER_S = 25e9, SCALEUP_BYTES_PER_S = 25e9, PCIE_BYTES_PER_S = 25e9,
                    HOST_BYTES_PER_S = 100e9;

struct reader {
    struct csv csv;
    uint32_t column[COLUMNS];
    struct server_group *groups;
    uint32_t count, nodes;
};

static enum status header_read(struct reader *reader)
{
    const struct csv *const csv = &reader->csv;
    const uint64_t errors_before = diag_error_count(csv->diag);
    for (int c = 0; c < COLUMNS; c++) {
        reader->column[c] = csv_column(csv, names[c]);
        if (reader->column[c] == UINT32_MAX)
            diag_error(csv->diag, csv_record_place(csv),
                       "column '%s' is missing; a list of nodes has sn,cpu_milli,memory_mib,gpu,"
                       "model",
                       names[c]);
    }
    return diag_error_count(csv->diag) == errors_before ? STATUS_OK : STATUS_INPUT;
}

/* A whole number of the row, 0 .. most, in steps of `step`. */
static enum status read_count(const struct reader *reader, enum column column, int64_t most,
                              int64_t step, int64_t *out)
{
    const struct csv *const csv = &reader->csv;
    const struct csv_field *const field = &csv->fields[reader->column[column]];
    if (number_count(field->bytes, field->byte_count, out) == NUMBER_OK && *out >= 0 &&
        *out <= most && *out % step == 0)
        return STATUS_OK;
    return diag_error(csv->diag, csv_place(csv, field),
                      "%s must be a whole number from 0 to %" PRId64 "%s", names[column], most,
                      step > 1 ? " in thousands: whole cores" : "");
}

static enum status read_node(const struct reader *reader, struct server_type *server)
{
    const struct csv *const csv = &reader->csv;
    int64_t cpu_milli, memory_mib, gpus;
    for (int c = 0; c < COLUMNS; c++)
        if (reader->column[c] >= csv->field_count)
            return diag_error(csv->diag, csv_record_place(csv),
                              "row has fewer fields than the header");
    TRY(read_count(reader, COLUMN_CPU, 65536000, 1000, &cpu_milli));
    TRY(read_count(reader, COLUMN_MEMORY, INT64_C(1) << 40, 1, &memory_mib));
    TRY(read_count(reader, COLUMN_GPUS, LIMIT_GPUS_PER_SERVER, 1, &gpus));
    const struct csv_field *const model = &csv->fields[reader->column[COLUMN_MODEL]];
    memset(server, 0, sizeof *server);
    if (gpus > 0) {
        if (model->byte_count == 0)
            return diag_error(csv->diag, csv_place(csv, model), "a node with GPUs has no model");
        if (!text_copy(server->gpu, sizeof server->gpu / 2, model->bytes, model->byte_count))
            return diag_error(csv->diag, csv_place(csv, model), "model is longer than %zu bytes",
                              sizeof server->gpu / 2 - 1);
    }
    server->gpus = (uint32_t)gpus;
    server->cores = (uint32_t)(cpu_milli / 1000);
    server->memory_bytes = (uint64_t)memory_mib << 20;
    return STATUS_OK;
}

static bool is_alike(const struct server_type *a, const struct server_type *b)
{
    return a->gpus == b->gpus && a->cores == b->cores && a->memory_bytes == b->memory_bytes &&
           strcmp(a->gpu, b->gpu) == 0;
}

static enum status add_group(struct reader *reader, const struct server_type *server)
{
    const struct csv *const csv = &reader->csv;
    if (reader->count == LIMIT_SERVER_GROUPS)
        return diag_error(csv->diag, csv_record_place(csv), "more than %d kinds of nodes",
                          LIMIT_SERVER_GROUPS);
    struct server_group *const group = &reader->groups[reader->count++];
    *group = (struct server_group){
        .server = *server, .count = 1, .nodes_per_server = 1, .weight = 1, .sockets = 1
    };
    struct server_type *const type = &group->server;
    snprintf(type->id, sizeof type->id, "%.31s-%u", type->gpus ? type->gpu : "cpu",
             type->gpus ? type->gpus : type->cores);
    type->nics = type->gpus ? type->gpus : 1;
    type->nic_bytes_per_s = NIC_BYTES_PER_S;
    type->scaleup_bytes_per_s = SCALEUP_BYTES_PER_S;
    type->gpu_pcie_bytes_per_s = PCIE_BYTES_PER_S;
    type->host_memory_bytes_per_s = HOST_BYTES_PER_S;
    type->mark = MARK_ASSUMED;
    snprintf(type->source, sizeof type->source, "the list of nodes; links are assumed");
    return STATUS_OK;
}

static enum status rows_read(struct reader *reader)
{
    for (;;) {
        bool found;
        struct server_type server;
        TRY(csv_next(&reader->csv, &found));
        if (!found) return STATUS_OK;
        TRY(read_node(reader, &server));
        uint32_t g = 0;
        while (g < reader->count && !is_alike(&reader->groups[g].server, &server)) g++;
        if (g < reader->count)
            reader->groups[g].count++;
        else
            TRY(add_group(reader, &server));
        reader->nodes++;
    }
}

static enum status read_text(struct reader *reader, const struct input *input, struct diag *diag)
{
    bool found;
    TRY(csv_begin(&reader->csv, input->name, input->bytes, input->byte_count, diag));
    csv_skip_comments(&reader->csv);
    TRY(csv_next(&reader->csv, &found));
    if (!found)
        return diag_error(diag, (struct place){ .file = input->name },
                          "is empty: not even a header");
    TRY(header_read(reader));
    TRY(rows_read(reader));
    if (reader->nodes > 0) return STATUS_OK;
    return diag_error(diag, (struct place){ .file = input->name }, "has no nodes");
}

enum status inventory_read(const char *path, struct server_group *groups, uint32_t *count,
                           uint32_t *nodes, struct diag *diag)
{
    struct input input;
    struct reader reader;
    memset(&reader, 0, sizeof reader);
    reader.groups = groups;
    enum status status = input_read(path, &input, diag);
    if (status == STATUS_OK) status = read_text(&reader, &input, diag);
    *count = reader.count;
    *nodes = reader.nodes;
    input_clear(&input);
    return status;
}
