/* test_plot_topology.c - report/plot_topology: a picture of every kind of network, and names that mean harm. */
#include "campaign/plan_fabric.h"
#include "report/plot_topology.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* What a picture must say: counts of MODELS 1.5 as in test_plan_fabric, the last pod or group, the servers of the last leaf. */
static const struct picture_row {
    enum fabric_kind kind;
    uint32_t servers, nics;
    const char *says[3];
} pictures[] = {
    { FABRIC_TWO_TIER,
      256,
      1,
      { "12 switches of 64 ports: 8 leaves, 4 spines", ">224-255<", ">cores<" } },
    { FABRIC_THREE_TIER,
      2000,
      8,
      { "500 leaves, 500 spines, 250 cores, 16 pods", "... pod 15", ">1996-1999<" } },
    { FABRIC_RAIL, 100, 8, { "32 leaves, 16 spines, 8 rails", ">96-99<", ">31<" } },
    { FABRIC_RAIL_ONLY, 60, 8, { "8 switches of 64 ports: 8 leaves, 8 rails", ">0-59<", ">7<" } },
    { FABRIC_DRAGONFLY, 100, 8, { "25 leaves", "cables between each two groups", ">96-99<" } },
};

static void is_drawn(void **state)
{
    const struct picture_row *row = *state;
    if (access("/usr/bin/gnuplot", X_OK) != 0) skip();
    const struct fabric fabric = { .kind = row->kind,
                                   .link = { .switch_ports = 64, .bytes_per_s = 48.5e9 },
                                   .nics_per_server = row->nics,
                                   .oversubscription = 1 };
    struct fabric_shape shape = { 0 };
    struct fabric_problem problem;
    assert_true(plan_fabric(&fabric, row->servers, &shape, &problem));
    /* P87, P88: apostrophes, back-ticks and signs of markup are text. */
    const struct topology_panel panel = { "a'b`touch x`<c>", "ib_{x}^2", 8, &shape };
    const struct topology_picture picture = { "it's \"<one>\" & only", &panel, 1 };
    char path[64];
    snprintf(path, sizeof path, "/tmp/gpuplan-topology-%ld.svg", (long)getpid());
    struct diag *diag = diag_create();
    assert_int_equal(plot_topology_write(&picture, path, diag), STATUS_OK);
    diag_destroy(diag);
    char *text = read_whole(path);
    unlink(path);
    for (size_t i = 0; i < 3; i++) {
        const bool wanted = strcmp(row->says[i], ">cores<") != 0; /* two tiers have none */
        CHECK((strstr(text, row->says[i]) != NULL) == wanted, "'%s'", row->says[i]);
    }
    assert_non_null(strstr(text, "a'b`touch x`&lt;c>: "));
    assert_non_null(strstr(text, "ib_{x}^2"));
    assert_non_null(strstr(text, "</svg>"));
    free(text);
}

static void of_no_kind(void **state)
{
    (void)state;
    struct diag *diag = diag_create();
    assert_int_equal(plot_topology_write(NULL, "picture.gif", diag), STATUS_INPUT);
    assert_int_equal(plot_topology_write(NULL, "picture", diag), STATUS_INPUT);
    diag_destroy(diag);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        rows_add(&rows, is_drawn, &pictures[i], "drawn: %s", fabric_kind_names[pictures[i].kind]);
    rows_add(&rows, of_no_kind, NULL, "a file of no kind");
    return rows_run("plot_topology", &rows);
}
