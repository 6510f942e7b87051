/* test_fuzz_cases.c - what the fuzzers found, and their seeds, read again under any compiler. */
#include "tests/fuzz_targets.h"
#include "tests/rows.h"

#include <dirent.h>

#define FOLDER "tests/cases/fuzz"

static const struct {
    const char *ending;
    void (*target)(const uint8_t *bytes, size_t count);
} kinds[] = {
    { ".scenario", fuzz_scenario }, { ".json", fuzz_json },   { ".csv", fuzz_csv },
    { ".swf", fuzz_swf },           { ".flows", fuzz_flows }, { ".topo", fuzz_topo },
};

static void replay(void **state)
{
    const char *name = *state, *ending = strrchr(name, '.');
    char path[512];
    snprintf(path, sizeof path, FOLDER "/%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *bytes = malloc(1 << 20);
    const size_t count = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    uint8_t *exact = malloc(count ? count : 1);
    memcpy(exact, bytes, count);
    free(bytes);
    size_t known = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ending && strcmp(ending, kinds[i].ending) == 0) {
            kinds[i].target(exact, count);
            known++;
        }
    free(exact);
    assert_int_equal(known, 1);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int main(void)
{
    struct rows rows = { 0 };
    struct dirent **names;
    const int count = scandir(FOLDER, &names, NULL, by_name);
    for (int i = 0; i < count; i++)
        if (names[i]->d_name[0] != '.')
            rows_add(&rows, replay, names[i]->d_name, "%s", names[i]->d_name);
    const int failed = rows_run("fuzz cases", &rows);
    for (int i = 0; i < count; i++) free(names[i]);
    free(names);
    return failed + (count < 3); /* run from another folder it would test nothing */
}
