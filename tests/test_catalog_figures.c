/* test_catalog_figures.c - the catalog against the tables of figures that it was written from, cell by cell, and the
 * servers that measured collectives name. The tables are test input outside of this repository: without them all of
 * this is skipped. */
#include "io/catalog_fields.h"
#include "io/csv.h"
#include "io/input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 1024 };

static struct catalog catalog;
static struct diag *catalog_diag; /* of reading the catalog */
static char folder[4096];

/* A column of a table and the field that holds it; factor: from its unit to the field's. */
struct column {
    const char *name, *field;
    double factor;
};

struct table {
    const char *file;
    enum catalog_kind kind;
    struct column columns[12];
};
static const struct table tables[] = {
    { "gpus.csv",
      CATALOG_GPUS,
      { { "mem_gb", "memory", 1e9 },
        { "mem_bw_tb_s", "memory_rate", 1e12 },
        { "bf16_fp16_dense_tflops", "peak_bf16_tflops", 1 },
        { "gemm_measured_tflops", "gemm_tflops", 1 },
        { "tdp_w", "max", 1 },
        { "idle_w", "idle", 1 },
        { "scaleup_bidir_gb_s", "scaleup_rate", 1e9 },
        { "pcie", "pcie_generation", 1 },
        { "mig_max", "mig_max", 1 } } },
    { "servers.csv",
      CATALOG_SERVERS,
      { { "gpus", "gpus", 1 },
        { "nics", "nics", 1 },
        { "nic_gbps", "notes.nic_nominal", 1.25e8 },
        { "node_uni_gb_s", "notes.network", 1e9 },
        { "max_kw", "max", 1e3 },
        { "typical_kw", "notes.typical", 1e3 },
        { "idle_kw", "idle", 1e3 } } },
    { "networks.csv",
      CATALOG_LINKS,
      { { "gbps", "notes.nominal", 1.25e8 },
        { "payload_fraction", "notes.payload", 1 },
        { "hop_latency_us", "notes.latency", 1e-6 },
        { "radix", "switch_ports", 1 },
        { "switch_w", "notes.switch_power", 1 } } },
    { "mig.csv",
      CATALOG_MIG,
      { { "compute_slices", "compute_slices", 1 },
        { "memory_slices", "memory_slices", 1 },
        { "max_instances", "max_instances", 1 },
        { "memory_gb", "memory", 1e9 },
        { "sm", "sm", 1 } } },
};

/* Names of networks.csv that are not the id in small letters. */
static const char *const link_ids[][2] = {
    { "IB EDR", "ib-edr100" },        { "IB HDR", "ib-hdr200" },
    { "IB NDR", "ib-ndr400" },        { "IB XDR", "ib-xdr800" },
    { "RoCE 100", "roce-100" },       { "RoCE 200", "roce-200" },
    { "RoCE 400", "roce-400" },       { "RoCE 800", "roce-800" },
    { "EFA v1 4x100", "efa-100" },    { "Ethernet 100 TCP", "tcp-100" },
    { "Ethernet 25 TCP", "tcp-25" },  { "Ethernet 10 TCP", "tcp-10" },
    { "Ethernet 1 TCP", "tcp-1" },    { "PCIe Gen3 x16", "pcie3-x16" },
    { "PCIe Gen4 x16", "pcie4-x16" }, { "PCIe Gen5 x16", "pcie5-x16" },
};

/* ---- the tables ---- */

struct reading {
    struct input text;
    struct csv csv;
    char header[32][CELL];
    uint32_t columns;
    struct diag *diag;
};

static void take_cell(const struct csv_field *field, char out[CELL])
{
    out[0] = '\0';
    if (field->byte_count >= CELL) return;
    out[csv_copy(field, out)] = '\0';
    while (out[0] == ' ') memmove(out, out + 1, strlen(out));
}

/* False when the table is absent: the test is skipped, and says so. */
static bool begin(struct reading *reading, const char *file)
{
    char path[sizeof folder + 64];
    bool found = false;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *there = fopen(path, "r");
    if (there == NULL) {
        printf("skipped: %s is absent\n", path);
        return false;
    }
    fclose(there);
    memset(reading, 0, sizeof *reading);
    reading->diag = diag_create();
    assert_int_equal(input_read(path, &reading->text, reading->diag), STATUS_OK);
    assert_int_equal(csv_begin(&reading->csv, "figures", reading->text.bytes,
                               reading->text.byte_count, reading->diag),
                     STATUS_OK);
    assert_int_equal(csv_next(&reading->csv, &found), STATUS_OK);
    reading->columns = reading->csv.field_count;
    for (uint32_t i = 0; i < reading->columns; i++)
        take_cell(&reading->csv.fields[i], reading->header[i]);
    return true;
}

static bool next(struct reading *reading)
{
    bool found = false;
    assert_int_equal(csv_next(&reading->csv, &found), STATUS_OK);
    return found;
}

static const char *cell(const struct reading *reading, const char *column, char out[CELL])
{
    for (uint32_t i = 0; i < reading->columns; i++)
        if (strcmp(reading->header[i], column) == 0) {
            take_cell(&reading->csv.fields[i], out);
            return out;
        }
    fail_msg("no column '%s'", column);
    return "";
}

static void end(struct reading *reading)
{
    input_clear(&reading->text);
    diag_destroy(reading->diag);
}

/* ---- the catalog ---- */

static const struct yaml_node *find(enum catalog_kind kind, const char *id)
{
    return catalog_find(&catalog, kind, id, catalog_diag);
}

struct wanted {
    const char *name;
    double value;
    bool found;
};

static void take_value(const struct catalog_field *field, void *context)
{
    struct wanted *wanted = context;
    if (strcmp(field->name, wanted->name) != 0 || !field->is_number) return;
    wanted->value = field->value;
    wanted->found = true;
}

static bool value_of(enum catalog_kind kind, const struct yaml_node *entry, const char *field,
                     double *value)
{
    struct wanted wanted = { .name = field };
    catalog_each_field(kind, entry, take_value, &wanted);
    *value = wanted.value;
    return wanted.found;
}

static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

static void lower(char *text)
{
    for (; *text; text++) *text = (char)tolower((unsigned char)*text);
}

/* The entry of a record. */
static void id_of(const struct reading *reading, enum catalog_kind kind, char id[CELL])
{
    char other[CELL], profile[CELL];
    if (kind == CATALOG_LINKS) {
        cell(reading, "link", other);
        for (size_t i = 0; i < sizeof link_ids / sizeof *link_ids; i++)
            if (strcmp(other, link_ids[i][0]) == 0) snprintf(id, CELL, "%s", link_ids[i][1]);
        return;
    }
    cell(reading, kind == CATALOG_MIG ? "gpu" : "id", other);
    if (kind == CATALOG_MIG)
        snprintf(id, CELL, "%.400s-%.400s", other, cell(reading, "profile", profile));
    else
        snprintf(id, CELL, "%s", strcmp(other, "AWS-p4d/p4de") == 0 ? "aws-p4d" : other);
    lower(id);
}

/* Servers that are one NVLink domain hold the numbers of the rack in their notes. */
static const char *field_of(const struct yaml_node *entry, const char *field)
{
    if (yaml_child(entry, "nvlink_domain") == NULL) return field;
    return strcmp(field, "gpus") == 0   ? "notes.rack_gpus"
           : strcmp(field, "nics") == 0 ? "notes.rack_nics"
           : strcmp(field, "max") == 0  ? "notes.rack_max"
                                        : field;
}

static void values_are_those_of_the_table(void **state)
{
    const struct table *table = *state;
    static struct reading reading;
    if (!begin(&reading, table->file)) skip();
    size_t count = 0;
    while (next(&reading)) {
        char id[CELL] = "", text[CELL];
        id_of(&reading, table->kind, id);
        const struct yaml_node *entry = find(table->kind, id);
        if (entry == NULL) fail_msg("no '%s' in the catalog", id);
        for (const struct column *c = table->columns; c->name; c++) {
            double value = 0;
            const char *field = field_of(entry, c->field);
            const bool found = value_of(table->kind, entry, field, &value);
            if (cell(&reading, c->name, text)[0] == '\0') continue;
            if (!found || !same(value, strtod(text, NULL) * c->factor))
                fail_msg("%s: %s is %g, the table has %s %s", id, field, value, c->name, text);
            count++;
        }
    }
    end(&reading);
    assert_true(count > 50);
}

/* Every number of a cell like "300000-450000" stands in an entry of this item. */
static void prices_are_those_of_the_table(void **state)
{
    (void)state;
    static struct reading reading;
    if (!begin(&reading, "prices.csv")) skip();
    while (next(&reading)) {
        char item[CELL], text[CELL];
        cell(&reading, "item", item);
        for (char *at = cell(&reading, "price_usd", text) ? text : NULL; *at;) {
            if (!isdigit((unsigned char)*at)) {
                at++;
                continue;
            }
            char *behind;
            const double number = strtod(at, &behind);
            bool found = false;
            for (const struct yaml_node *entry =
                     catalog_first(&catalog, CATALOG_PRICES, catalog_diag);
                 entry; entry = entry->next) {
                double value;
                if (strcmp(yaml_child(entry, "item")->text, item) != 0) continue;
                found |= value_of(CATALOG_PRICES, entry, "value", &value) && value == number;
                found |= value_of(CATALOG_PRICES, entry, "least", &value) && value == number;
                found |= value_of(CATALOG_PRICES, entry, "most", &value) && value == number;
            }
            if (!found) fail_msg("%s: %g is not in the catalog", item, number);
            at = behind;
        }
    }
    end(&reading);
}

static void figures_are_those_of_the_table(void **state)
{
    (void)state;
    static struct reading reading;
    if (!begin(&reading, "reliability.csv")) skip();
    while (next(&reading)) {
        char quantity[CELL], text[CELL], value[CELL];
        cell(&reading, "quantity", quantity);
        cell(&reading, "value", value);
        if (strcmp(quantity, "Same, RSC-2") == 0) /* as the line above it */
            snprintf(quantity, sizeof quantity,
                     "Failure rate of server + its share of network, RSC-2");
        const struct yaml_node *entry = catalog_first(&catalog, CATALOG_RELIABILITY, catalog_diag);
        while (entry && strcmp(yaml_child(entry, "quantity")->text, quantity) != 0)
            entry = entry->next;
        if (entry == NULL) fail_msg("'%s' is not in the catalog", quantity);
        assert_string_equal(yaml_child(entry, "value")->text, value);
        const struct yaml_node *unit = yaml_child(entry, "unit");
        const struct yaml_node *population = yaml_child(entry, "population");
        assert_string_equal(unit ? unit->text : "", cell(&reading, "unit", text));
        assert_string_equal(population ? population->text : "", cell(&reading, "population", text));
    }
    end(&reading);
}

/* "all_reduce --server dgx-a100 --link ib-hdr200 ...": both are in the catalog. */
static void measured_collectives_name_entries(void **state)
{
    (void)state;
    static struct reading reading;
    if (!begin(&reading, "collectives.csv")) skip();
    size_t count = 0;
    while (next(&reading)) {
        char run[CELL], id[CELL];
        cell(&reading, "run", run);
        const char *server = strstr(run, "--server "), *link = strstr(run, "--link ");
        if (server && sscanf(server, "--server %1000s", id) == 1 && ++count &&
            find(CATALOG_SERVERS, id) == NULL)
            fail_msg("no server '%s'", id);
        if (link && sscanf(link, "--link %1000s", id) == 1 && find(CATALOG_LINKS, id) == NULL)
            fail_msg("no link '%s'", id);
    }
    end(&reading);
    assert_true(count > 100);
}

int main(void)
{
    struct CMUnitTest tests[16];
    size_t count = 0;
    catalog_diag = diag_create();
    const char *shared = getenv("GPUPLAN_SHARED");
    snprintf(folder, sizeof folder, "%s/figures", shared ? shared : "../shared");
    if (catalog_open(&catalog, catalog_diag) != STATUS_OK) return 1;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        tests[count++] = (struct CMUnitTest){ tables[i].file, values_are_those_of_the_table, NULL,
                                              NULL, (void *)(uintptr_t)&tables[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(prices_are_those_of_the_table);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(figures_are_those_of_the_table);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(measured_collectives_name_entries);
    const int failed = _cmocka_run_group_tests("catalog figures", tests, count, NULL, NULL);
    catalog_close(&catalog);
    diag_destroy(catalog_diag);
    return failed;
}
