/* test_inventory.c - io/inventory: lists of nodes by hand, one quirk each; then the shared one. */
#include "io/inventory.h"

#include "trace_files.h"

#define HEADER "sn,cpu_milli,memory_mib,gpu,model\n"

/* groups are flattened to "count x gpus model cores/GiB", with commas between. */
static const struct {
    const char *name, *text;
    const char *want; /* NULL = the list is refused, `reason` is part of why */
    const char *reason;
} cases[] = {
    { "equal nodes are one group wherever they stand",
      HEADER "a,64000,262144,2,P100\nb,96000,393216,8,G2\nc,64000,262144,2,P100\n",
      "2 x 2 P100 64/256, 1 x 8 G2 96/384", NULL },
    { "other memory is another kind", HEADER "a,8000,1024,1,T4\nb,8000,2048,1,T4\n",
      "1 x 1 T4 8/1, 1 x 1 T4 8/2", NULL },
    { "no GPU", HEADER "a,8000,1024,0,\nb,8000,1024,1,T4\n", "1 x 0  8/1, 1 x 1 T4 8/1", NULL },
    { "columns in another order", "model,gpu,memory_mib,cpu_milli,sn,rack\nT4,4,1024,8000,a,r1\n",
      "1 x 4 T4 8/1", NULL },
    { "a part of a core", HEADER "a,8500,1024,1,T4\n", NULL,
      "cpu_milli must be a whole number from 0 to 65536000 in thousands" },
    { "too many GPUs", HEADER "a,8000,1024,33,T4\n", NULL,
      "gpu must be a whole number from 0 to 32" },
    { "GPUs of no model", HEADER "a,8000,1024,1,\n", NULL, "a node with GPUs has no model" },
    { "a column missing", "sn,cpu_milli,gpu,model\na,8000,1,T4\n", NULL,
      "column 'memory_mib' is missing" },
    { "a short row", HEADER "a,8000\n", NULL, "row has fewer fields than the header" },
    { "a header alone", HEADER, NULL, "has no nodes" },
    { "nothing", "", NULL, "is empty" },
};

static void flatten(const struct server_group *groups, uint32_t count, char *out, size_t bytes)
{
    size_t at = 0;
    out[0] = '\0';
    for (uint32_t g = 0; g < count; g++) {
        const struct server_type *const server = &groups[g].server;
        at += (size_t)snprintf(out + at, bytes - at, "%s%u x %u %s %u/%lu", g ? ", " : "",
                               groups[g].count, server->gpus, server->gpu, server->cores,
                               (unsigned long)(server->memory_bytes >> 30));
    }
}

static void node_list(void **state)
{
    const size_t row = *(const size_t *)*state;
    static struct server_group groups[LIMIT_SERVER_GROUPS];
    char path[FILE_PATH_BYTES], got[512];
    file_with(path, cases[row].text, strlen(cases[row].text));
    struct diag *diag = diag_create();
    uint32_t count, nodes;
    const enum status status = inventory_read(path, groups, &count, &nodes, diag);
    if (cases[row].want == NULL) {
        char *said = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&said, &bytes);
        diag_print(diag, out);
        fclose(out);
        assert_int_equal(status, STATUS_INPUT);
        if (!strstr(said, cases[row].reason)) fail_msg("said: %s", said);
        free(said);
    } else {
        assert_int_equal(status, STATUS_OK);
        flatten(groups, count, got, sizeof got);
        assert_string_equal(got, cases[row].want);
    }
    diag_destroy(diag);
    unlink(path);
}

/* FIGURES.md: 1,523 nodes, 6,212 GPUs on 1,213 of them. */
static void the_openb_list(void **state)
{
    (void)state;
    static struct server_group groups[LIMIT_SERVER_GROUPS];
    char path[FILE_PATH_BYTES];
    if (!shared_file(path, "traces/alibaba-openb-2023/openb_node_list_all_node.csv")) skip();
    struct diag *diag = diag_create();
    uint32_t count, nodes, gpus = 0, with_gpus = 0, g2 = 0;
    assert_int_equal(inventory_read(path, groups, &count, &nodes, diag), STATUS_OK);
    for (uint32_t g = 0; g < count; g++) {
        gpus += groups[g].count * groups[g].server.gpus;
        if (groups[g].server.gpus) with_gpus += groups[g].count;
        if (strcmp(groups[g].server.gpu, "G2") == 0) g2 += groups[g].count;
    }
    assert_int_equal(nodes, 1523);
    assert_int_equal(with_gpus, 1213);
    assert_int_equal(gpus, 6212);
    assert_int_equal(g2, 549);
    diag_destroy(diag);
}

int main(void)
{
    enum { CASES = sizeof cases / sizeof *cases };
    static size_t rows[CASES];
    struct CMUnitTest tests[CASES + 1] = { cmocka_unit_test(the_openb_list) };
    for (size_t i = 0; i < CASES; i++) {
        rows[i] = i;
        tests[i + 1] = (struct CMUnitTest){ .name = cases[i].name,
                                            .test_func = node_list,
                                            .initial_state = &rows[i] };
    }
    return cmocka_run_group_tests_name("inventory", tests, NULL, NULL);
}
