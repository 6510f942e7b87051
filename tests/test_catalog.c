/* test_catalog.c - the catalog: every entry passes its table, every number says how it is known and where from, ids
 * are used once, and every entry that may be simulated can be. One test per entry. */
#include "io/catalog_fields.h"
#include "io/scenario_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define ONE_LAYOUT "tests/cases/one_layout.yaml"

enum { ENTRIES_MOST = 512 };

static struct catalog catalog;
static struct scenario scenario;
static char shown[16384];

static struct row {
    enum catalog_kind kind;
    const struct yaml_node *entry;
    char name[128], asked[128];
} rows[ENTRIES_MOST];
static size_t row_count;

static void take_problems(struct diag *diag)
{
    memset(shown, 0, sizeof shown);
    FILE *out = fmemopen(shown, sizeof shown - 1, "w");
    diag_print(diag, out);
    fclose(out);
    diag_destroy(diag);
}

static void check_entry(enum catalog_kind kind, const struct yaml_node *entry)
{
    struct diag *diag = diag_create();
    const enum status status = catalog_check(&catalog, kind, entry, diag);
    take_problems(diag);
    if (status != STATUS_OK) fail_msg("%s", shown);
}

/* ---- each number has a mark and a source ---- */

static bool is_mark(const char *text)
{
    static const char *const marks[] = { "confirmed", "derived", "memory", "assumed",
                                         "hypothetical" };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strcmp(text, marks[i]) == 0) return true;
    return false;
}

struct found {
    size_t numbers, bare;
    char name[96];
};

/* A field is bare when nothing says where it comes from or how well it is known. */
static void look_at(const struct catalog_field *field, void *context)
{
    struct found *found = context;
    found->numbers += field->is_number;
    if (strlen(field->source) > 3 && is_mark(field->mark)) return;
    found->bare++;
    snprintf(found->name, sizeof found->name, "%s", field->name);
}

static void entry_is_sound(void **state)
{
    const struct row *row = *state;
    struct found found = { 0 };
    check_entry(row->kind, row->entry);
    catalog_each_field(row->kind, row->entry, look_at, &found);
    if (found.bare) fail_msg("%s has no mark or no source", found.name);
    if (row->kind != CATALOG_RELIABILITY) assert_true(found.numbers > 0); /* there: texts */
}

/* The rule itself: a number without a source, or with a mark that is none, is found. */
static void a_bare_number_is_found(void **state)
{
    (void)state;
    static const char text[] =
        "- {id: a, item: x, value: 1, mark: memory}\n"
        "- {id: b, item: x, value: 1, source: read somewhere}\n"
        "- {id: c, item: x, value: 1, mark: guessed, source: read somewhere}\n"
        "- {id: d, item: x, value: 1, mark: memory, source: read somewhere}\n";
    static const size_t want_bare[] = { 2, 2, 2, 0 };
    struct yaml_document document;
    struct diag *diag = diag_create();
    assert_int_equal(yaml_read_text("test", text, strlen(text), &document, diag), STATUS_OK);
    size_t i = 0;
    for (const struct yaml_node *entry = document.root->first; entry; entry = entry->next) {
        struct found found = { 0 };
        catalog_each_field(CATALOG_PRICES, entry, look_at, &found);
        assert_int_equal(found.numbers, 1);
        assert_int_equal(found.bare, want_bare[i++]);
    }
    yaml_clear(&document);
    diag_destroy(diag);
}

/* A row's own mark and source, and those that its notes give to a field. */
static void note_wins(const struct catalog_field *field, void *context)
{
    (void)context;
    const bool is_value = strcmp(field->name, "value") == 0;
    assert_string_equal(field->mark, is_value ? "memory" : "confirmed");
    assert_string_equal(field->source, is_value ? "his" : "hers");
}

static void notes_speak_for_a_field(void **state)
{
    (void)state;
    static const char text[] =
        "- {id: a, item: x, value: 1, most: 2, mark: confirmed, source: hers,\n"
        "   notes: {marks: {value: memory}, sources: {value: his}}}\n";
    struct yaml_document document;
    struct diag *diag = diag_create();
    assert_int_equal(yaml_read_text("test", text, strlen(text), &document, diag), STATUS_OK);
    catalog_each_field(CATALOG_PRICES, document.root->first, note_wins, NULL);
    yaml_clear(&document);
    diag_destroy(diag);
}

/* A training plan is the whole of its profile. */
static void list_names(const struct catalog_field *field, void *context)
{
    char *names = context;
    snprintf(names + strlen(names), 128 - strlen(names), "%s=%s ", field->name, field->node->text);
    assert_string_equal(field->source, "hers");
}

static void a_training_plan_is_shown(void **state)
{
    (void)state;
    static const char text[] =
        "- {id: a, train: {model: 7b, tensor: 8}, mark: assumed, source: hers}\n";
    char names[128] = "";
    struct yaml_document document;
    struct diag *diag = diag_create();
    assert_int_equal(yaml_read_text("test", text, strlen(text), &document, diag), STATUS_OK);
    catalog_each_field(CATALOG_PROFILES, document.root->first, list_names, names);
    assert_string_equal(names, "train.model=7b train.tensor=8 ");
    yaml_clear(&document);
    diag_destroy(diag);
}

struct wrong_case {
    const char *name;
    enum catalog_kind kind;
    const char *text, *want;
};
static const struct wrong_case wrongs[] = {
    { "an unknown key", CATALOG_PRICES,
      "{id: a, itme: x, unit: USD, date: 2024, kind: x, mark: memory, source: x}",
      "unknown key 'itme'; did you mean 'item'?" },
    { "a missing source", CATALOG_PRICES,
      "{id: a, item: x, unit: USD, date: 2024, kind: x, mark: memory}", "'source' is missing" },
    { "a word that is no mark", CATALOG_PRICES,
      "{id: a, item: x, unit: USD, date: 2024, kind: x, mark: guessed, source: x}",
      "unknown 'guessed'" },
    { "a mark of a field that is not there", CATALOG_LINKS,
      "{id: a, rate: 1 GB/s, mark: memory, source: x, notes: {marks: {rat: memory}}}",
      "marks of 'rat': it has no such field" },
    { "a mark of a field that is none", CATALOG_LINKS,
      "{id: a, rate: 1 GB/s, mark: memory, source: x, notes: {marks: {rate: sure}}}",
      "unknown 'sure'" },
    { "an unknown note", CATALOG_SERVERS,
      "{id: a, refused: x, mark: memory, source: x, notes: {socket: 2}}", "unknown key 'socket'" },
    { "a number out of range", CATALOG_MIG,
      "{id: a, gpu: x, profile: x, compute_slices: 8, memory_slices: 8, starts: \"0\", "
      "max_instances: 1, memory: 1 GB, mark: memory, source: x}",
      "compute_slices must be 1 to 7, got 8" },
    { "a GPU that is not there", CATALOG_SERVERS,
      "{id: a, gpu: h100, gpus: 8, nics: 8, nic: 1 GB/s, scaleup: 1 GB/s}",
      "no GPU 'h100' in gpus.yaml" },
    { "a line without its bandwidth", CATALOG_COLLECTIVES,
      "{id: a, servers: dgx-h100, gpus: 8, nvls: 35us, mark: memory, source: x}",
      "nvls: cannot read '35us': a latency and a bus bandwidth are expected" },
    { "lines that do not rise", CATALOG_COLLECTIVES,
      "{id: a, servers: dgx-h100, gpus: 8, nvls: \"35us 38 GB/s, 30us 50 GB/s\", mark: memory, "
      "source: x}",
      "must rise from line to line, '30us 50 GB/s' does not" },
    { "lines that are too many", CATALOG_COLLECTIVES,
      "{id: a, servers: dgx-h100, gpus: 8, two_servers: \"1us 1 GB/s, 2us 2 GB/s\", mark: memory, "
      "source: x}",
      "two_servers: at most 1 lines" },
    { "a ring through one GPU", CATALOG_COLLECTIVES,
      "{id: a, servers: dgx-h100, gpus: 8, ring: \"1:2 GB/s\", mark: memory, source: x}",
      "'1:2 GB/s' is not GPUs:bandwidth" },
    { "collectives of no server", CATALOG_COLLECTIVES,
      "{id: a, servers: dgx-h10, gpus: 8, mark: memory, source: x}",
      "no server 'dgx-h10' in servers.yaml" },
    { "a component that is none", CATALOG_FAILURES, "{id: a, gpus: {rate: 1/day}}",
      "unknown key 'gpus'; did you mean 'gpu'?" },
};

static void wrong_is_refused(void **state)
{
    const struct wrong_case *row = *state;
    struct yaml_document document;
    struct diag *diag = diag_create();
    assert_int_equal(yaml_read_text("test", row->text, strlen(row->text), &document, diag),
                     STATUS_OK);
    assert_int_equal(catalog_check(&catalog, row->kind, document.root, diag), STATUS_INPUT);
    take_problems(diag);
    if (strstr(shown, row->want) == NULL) fail_msg("lacks '%s': %s", row->want, shown);
    yaml_clear(&document);
}

/* ---- ids ---- */

static void ids_are_used_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        const char *id = catalog_id(rows[i].entry);
        for (const char *c = id; *c; c++)
            if (*c >= 'A' && *c <= 'Z') fail_msg("%s is not in lower case", id);
        for (size_t j = 0; j < i; j++)
            if (strcmp(id, catalog_id(rows[j].entry)) == 0) fail_msg("%s is used twice", id);
    }
}

/* Ids that shipped scenarios and results name; they stay. */
static void ids_of_old_stay(void **state)
{
    (void)state;
    static const struct {
        enum catalog_kind kind;
        const char *id;
    } old[] = {
        { CATALOG_SERVERS, "dgx-h100" },   { CATALOG_SERVERS, "hgx-h100-8" },
        { CATALOG_SERVERS, "hgx-h100-4" }, { CATALOG_SERVERS, "h100-sxm-2" },
        { CATALOG_SERVERS, "h100-sxm-1" }, { CATALOG_SERVERS, "dgx-h200" },
        { CATALOG_SERVERS, "dgx-a100" },   { CATALOG_SERVERS, "hgx-a100-4" },
        { CATALOG_SERVERS, "dgx-1-v100" }, { CATALOG_LINKS, "ib-ndr400" },
        { CATALOG_LINKS, "tcp-1" },        { CATALOG_FAILURES, "llama3" },
        { CATALOG_PROFILES, "by_size" },   { CATALOG_PROFILES, "llm70b" },
        { CATALOG_MIXES, "default" },
    };
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        assert_non_null(catalog_find(&catalog, old[i].kind, old[i].id, NULL));
}

/* Servers of 1, 2, 4, 8 and 16 GPUs. */
static void servers_of_every_size(void **state)
{
    (void)state;
    for (unsigned gpus = 1; gpus <= 16; gpus *= 2) {
        char text[8];
        size_t count = 0;
        snprintf(text, sizeof text, "%u", gpus);
        for (size_t i = 0; i < row_count; i++) {
            const struct yaml_node *node =
                rows[i].kind == CATALOG_SERVERS ? yaml_child(rows[i].entry, "gpus") : NULL;
            count += node != NULL && strcmp(node->text, text) == 0;
        }
        if (count == 0) fail_msg("no server of %u GPUs", gpus);
    }
}

/* ---- entries in a scenario ---- */

static enum status read_with(const char *set)
{
    struct diag *diag = diag_create();
    scenario_clear(&scenario);
    const enum status status = scenario_read(ONE_LAYOUT, &set, 1, &scenario, diag);
    take_problems(diag);
    return status;
}

/* What a scenario is told to use the entry: on two servers of eight unless it is a server itself. */
static void entry_can_be_asked_for(void **state)
{
    const struct row *row = *state;
    static const char *const paths[CATALOG_KINDS] = {
        [CATALOG_SERVERS] = "layouts.only.servers.type",
        [CATALOG_LINKS] = "layouts.only.fabric.link",
        [CATALOG_FAILURES] = "failures.rates",
        [CATALOG_PROFILES] = "workload.communication",
    };
    char set[192];
    snprintf(set, sizeof set, "%s=%s", paths[row->kind], catalog_id(row->entry));
    const bool refused = yaml_child(row->entry, "refused") != NULL;
    const enum status status = read_with(set);
    if (status != (refused ? STATUS_INPUT : STATUS_OK)) fail_msg("%s: %s", set, shown);
    if (refused) assert_non_null(strstr(shown, "cannot be simulated: "));
}

static void rates_of_whole_servers(void **state)
{
    (void)state;
    static const struct {
        const char *rates, *own, *server;
        enum status want;
    } cases[] = {
        { "rsc1", NULL, "hgx-h100-8", STATUS_OK },
        { "rsc1", NULL, "hgx-h100-4", STATUS_INPUT },
        { "stepfun", NULL, "h100-sxm-1", STATUS_INPUT },
        { "rsc1", "failures.server.rate=1e-3/day", "hgx-h100-4", STATUS_OK }, /* one's own */
        { "llama3", NULL, "hgx-h100-4", STATUS_OK },
        { "lanl", NULL, "h100-sxm-1", STATUS_OK },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char rates[64], server[96];
        snprintf(rates, sizeof rates, "failures.rates=%s", cases[i].rates);
        snprintf(server, sizeof server, "layouts.only.servers.type=%s", cases[i].server);
        const char *sets[] = { rates, server, cases[i].own };
        struct diag *diag = diag_create();
        scenario_clear(&scenario);
        const enum status status =
            scenario_read(ONE_LAYOUT, sets, cases[i].own ? 3 : 2, &scenario, diag);
        take_problems(diag);
        if (status != cases[i].want) fail_msg("case %zu: %s", i, shown);
    }
    assert_int_equal(read_with("failures.rates=rsc1"), STATUS_OK);
    assert_int_equal(scenario.failures.component[COMPONENT_SERVER].per_server_of, 8);
}

/* ---- all of them ---- */

static bool list_rows(void)
{
    struct diag *diag = diag_create();
    if (catalog_open(&catalog, diag) != STATUS_OK) return false;
    for (int kind = 0; kind < CATALOG_KINDS; kind++)
        for (const struct yaml_node *entry = catalog_first(&catalog, (enum catalog_kind)kind, diag);
             entry != NULL && row_count < ENTRIES_MOST; entry = entry->next) {
            struct row *row = &rows[row_count++];
            row->kind = (enum catalog_kind)kind;
            row->entry = entry;
            snprintf(row->name, sizeof row->name, "%s %s",
                     catalog_kind_name((enum catalog_kind)kind), catalog_id(entry));
            snprintf(row->asked, sizeof row->asked, "a scenario with %s", catalog_id(entry));
        }
    take_problems(diag);
    fputs(shown, stdout);
    return shown[0] == '\0';
}

int main(void)
{
    static struct CMUnitTest tests[2 * ENTRIES_MOST + 32];
    size_t count = 0;
    if (!list_rows()) return 1;
    for (size_t i = 0; i < row_count; i++) {
        tests[count++] = (struct CMUnitTest){ rows[i].name, entry_is_sound, NULL, NULL, &rows[i] };
        if (rows[i].kind <= CATALOG_PROFILES)
            tests[count++] =
                (struct CMUnitTest){ rows[i].asked, entry_can_be_asked_for, NULL, NULL, &rows[i] };
    }
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++)
        tests[count++] = (struct CMUnitTest){ wrongs[i].name, wrong_is_refused, NULL, NULL,
                                              (void *)(uintptr_t)&wrongs[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(a_bare_number_is_found);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(notes_speak_for_a_field);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(a_training_plan_is_shown);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(ids_are_used_once);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(ids_of_old_stay);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(servers_of_every_size);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(rates_of_whole_servers);
    const int failed = _cmocka_run_group_tests("catalog", tests, count, NULL, NULL);
    scenario_clear(&scenario);
    catalog_close(&catalog);
    return failed;
}
