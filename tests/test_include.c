/* test_include.c - scenarios in several files: what wins, what is named, what is refused (P97).
 *
 * Each case writes its files into a fresh folder and reads main.yaml there. */
#include "io/scenario_read.h"

#include "tests/rows.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 6, PATH_MOST = 256 };

struct include_case {
    const char *name;
    struct {
        const char *name, *text;
    } files[FILES];
    const char *want; /* a part of the resolved scenario, or of the problems; @ = the folder */
};

#define BASE                                                                                       \
    "gpuplan: 1\nname: base\nseed: 3\nreplicas: 4\n"                                               \
    "layouts:\n"                                                                                   \
    "  - {name: a, servers: {type: hgx-h100-8, count: 2}, fabric: {type: two-tier, link: "         \
    "ib-ndr400, "                                                                                  \
    "nics_per_gpu: 1}}\n"                                                                          \
    "baseline: a\n"
#define MAIN(text)                                                                                 \
    {                                                                                              \
        "main.yaml", text                                                                          \
    }
#define WITH_BASE                                                                                  \
    {                                                                                              \
        "base.yaml", BASE                                                                          \
    }

static const struct include_case merged[] = {
    { "what is left out comes from the included file",
      { MAIN("include: base.yaml\nseed: 5\n"), WITH_BASE },
      "name: base  # base.yaml:2\n" },
    { "what stands in the scenario wins",
      { MAIN("include: [base.yaml]\nseed: 5\n"), WITH_BASE },
      "seed: 5  # main.yaml:2\n" },
    { "the list is shown with its origin",
      { MAIN("seed: 5\ninclude: [base.yaml]\n"), WITH_BASE },
      "include: [base.yaml]  # main.yaml:2\n" },
    { "the later of two wins",
      { MAIN("include: [base.yaml, b.yaml]\n"), WITH_BASE, { "b.yaml", "name: later\n" } },
      "name: later  # b.yaml:1\n" },
    { "maps are merged key by key",
      { MAIN("include: b.yaml\ntime: {warmup: 1h}\n"),
        WITH_BASE,
        { "b.yaml", "include: base.yaml\ntime: {horizon: 5d, warmup: 2h}\n" } },
      "time.horizon: 5d  # b.yaml:2\ntime.warmup: 1h  # main.yaml:2\n" },
    { "a map keeps the short form below it",
      { MAIN("include: base.yaml\nreplicas: {resample: none}\n"), WITH_BASE },
      "replicas.count: 4  # base.yaml:4\nreplicas.resample: none  # main.yaml:2\n" },
    { "a map over a short list",
      { MAIN("include: base.yaml\nlayouts: {scale_to_load: 0.8}\n"
             "workload: {trace: {file: x.csv, recorded_on: none}}\n"),
        WITH_BASE,
        { "x.csv", "job_id,submit_s,duration_s,gpus\n1,0,1,1\n" } },
      "layouts.scale_to_load: 0.8  # main.yaml:2\n" },
    { "null takes the default back",
      { MAIN("include: base.yaml\nseed: null\n"), WITH_BASE },
      "seed: 1  # default\n" },
    { "a rate wins over an included mean time",
      { MAIN("include: b.yaml\nfailures: {gpu: {rate: 0.1/day}}\n"),
        WITH_BASE,
        { "b.yaml", "include: base.yaml\nfailures: {gpu: {mtbf: 9d, repair_median: 3h, repair_p95: "
                    "9h}}\n" } },
      "failures.gpu.rate: 0.1/day  # main.yaml:2\n" },
    { "files below, relative to the one that names them",
      { MAIN("include: parts/b.yaml\n"),
        { "parts/b.yaml", "include: more/base.yaml\n" },
        { "parts/more/base.yaml", BASE } },
      "seed: 3  # base.yaml:3\n" },
    { "a file twice by two ways is no cycle",
      { MAIN("include: [b.yaml, base.yaml]\n"), WITH_BASE, { "b.yaml", "include: base.yaml\n" } },
      "name: base  # base.yaml:2\n" },
    { "JSON in YAML",
      { MAIN("include: [base.yaml, b.json]\n"),
        WITH_BASE,
        { "b.json", "{\"seed\": 9007199254740993}" } },
      "seed: 9007199254740993  # b.json:1\n" },
};

static const struct include_case refused[] = {
    { "a problem is placed in the included file",
      { MAIN("include: base.yaml\ntime: {horizon: 5}\n"), { "base.yaml", "\n\nseed: -3\n" } },
      "@base.yaml:3:7: error: seed" },
    { "an unknown key of the included file",
      { MAIN("include: base.yaml\n"), { "base.yaml", "sead: 3\n" } },
      "@base.yaml:1:1: error: unknown key 'sead'; did you mean 'seed'?\n"
      "    1 | sead: 3\n"
      "      | ^~~~\n" },
    { "the parser's problems too",
      { MAIN("include: base.yaml\n"), { "base.yaml", "a: @x\n" } },
      "@base.yaml:1:4: error: '@' cannot start a value; put the value in quotes\n" },
    { "P97 a file that is not there",
      { MAIN("include: [nosuch.yaml]\n") },
      "@main.yaml:1:11: error: include: cannot read '@nosuch.yaml': No such file or directory\n" },
    { "P97 a way up",
      { MAIN("include: [../../etc/passwd]\n") },
      "@main.yaml:1:11: error: include: '..' is not included; put the file below the scenario's "
      "folder\n" },
    { "P97 a way up in the middle",
      { MAIN("include: parts/../base.yaml\n"), WITH_BASE, { "parts/b.yaml", "" } },
      "@main.yaml:1:10: error: include: '..' is not included" },
    { "P97 an absolute path",
      { MAIN("include: /etc/passwd\n") },
      "@main.yaml:1:10: error: include: absolute paths are not included; write it relative to this "
      "file\n" },
    { "P97 a link that leaves",
      { MAIN("include: b.yaml\n"), { "b.yaml", ">/etc/passwd" } },
      "@main.yaml:1:10: error: include: '@b.yaml' is a link that leaves the scenario's folder; "
      "copy the file\n" },
    { "P97 a linked folder that leaves",
      { MAIN("include: b/passwd\n"), { "b", ">/etc" } },
      "error: include: '@b/passwd' is a link that leaves the scenario's folder" },
    { "P97 a FIFO",
      { MAIN("include: b.yaml\n"), { "b.yaml", "|" } },
      "@main.yaml:1:10: error: include: '@b.yaml' is not a regular file\n" },
    { "P97 a folder",
      { MAIN("include: parts\n"), { "parts/b.yaml", "" } },
      "@main.yaml:1:10: error: include: '@parts' is not a regular file\n" },
    { "P97 a file that includes itself",
      { MAIN("include: main.yaml\n") },
      "@main.yaml:1:10: error: include: a cycle: @main.yaml -> @main.yaml\n" },
    { "P97 a cycle of three, named",
      { MAIN("include: a.yaml\n"),
        { "a.yaml", "include: b.yaml\n" },
        { "b.yaml", "include: a.yaml\n" } },
      "@b.yaml:1:10: error: include: a cycle: @main.yaml -> @a.yaml -> @b.yaml -> @a.yaml\n" },
    { "P97 a cycle over a link",
      { MAIN("include: b.yaml\n"), { "b.yaml", ">main.yaml" } },
      "error: include: a cycle: @main.yaml -> @b.yaml\n" },
    { "a list of maps",
      { MAIN("include: [{a: b}]\n") },
      "@main.yaml:1:11: error: include: expected a file name, got a mapping\n" },
    { "a map",
      { MAIN("include: {a: b}\n") },
      "@main.yaml:1:10: error: include: expected a file name, got a mapping\n" },
    { "no name",
      { MAIN("include: ['']\n") },
      "@main.yaml:1:11: error: include: a file name is missing\n" },
    { "a list as included file",
      { MAIN("include: b.yaml\n"), { "b.yaml", "[1]\n" } },
      "@b.yaml:1:1: error: expected a mapping of keys to values, got a list\n" },
    { "P95 hostile names", { MAIN("include: \"\\e[2J\"\n") }, "cannot read '@\\x1b[2J'" },
};

static char folder[PATH_MOST], shown[65536];
static struct scenario scenario;

static const char *inside(const char *name)
{
    static char path[2 * PATH_MOST];
    snprintf(path, sizeof path, "%s%s", folder, name);
    return path;
}

/* ">x" makes a link to x, "|" a FIFO. */
static void write_file(const char *name, const char *text)
{
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        char part[PATH_MOST];
        snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
        mkdir(inside(part), 0700);
    }
    if (text[0] == '>') {
        assert_int_equal(symlink(text + 1, inside(name)), 0);
    } else if (text[0] == '|') {
        assert_int_equal(mkfifo(inside(name), 0600), 0);
    } else {
        FILE *file = fopen(inside(name), "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
    }
}

static void begin(void)
{
    snprintf(folder, sizeof folder, "%s/gpuplan-test-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(folder));
    snprintf(folder + strlen(folder), sizeof folder - strlen(folder), "/");
}

static void end(const struct include_case *row)
{
    for (int i = FILES; i-- > 0;) {
        if (row->files[i].name == NULL) continue;
        char name[PATH_MOST];
        snprintf(name, sizeof name, "%s", row->files[i].name);
        remove(inside(name));
        for (char *slash; (slash = strrchr(name, '/')) != NULL;) {
            *slash = '\0';
            rmdir(inside(name));
        }
    }
    rmdir(folder);
}

static enum status read_main(void)
{
    scenario_clear(&scenario);
    struct diag *diag = diag_create();
    const enum status status = scenario_read(inside("main.yaml"), NULL, 0, &scenario, diag);
    memset(shown, 0, sizeof shown);
    FILE *out = fmemopen(shown, sizeof shown - 1, "w");
    diag_print(diag, out);
    fclose(out);
    diag_destroy(diag);
    return status;
}

/* `text` with the folder in place of each @ that stands before a file's name. */
static const char *with_folder(const char *text)
{
    static char out[8192];
    size_t used = 0;
    for (; *text && used + PATH_MOST < sizeof out; text++) {
        if (*text == '@' && text[1] != '\'' && text[1] != 'x')
            used += (size_t)snprintf(out + used, sizeof out - used, "%s", folder);
        else
            out[used++] = *text;
    }
    out[used] = '\0';
    return out;
}

static enum status read_case(const struct include_case *row)
{
    begin();
    for (int i = 0; i < FILES && row->files[i].name; i++)
        write_file(row->files[i].name, row->files[i].text);
    const enum status status = read_main();
    end(row);
    return status;
}

static void check_merged(void **state)
{
    const struct include_case *row = *state;
    if (read_case(row) != STATUS_OK) fail_msg("refused:\n%s", shown);
    if (strstr(scenario.resolved, row->want) == NULL)
        fail_msg("'%s' is not in:\n%s", row->want, scenario.resolved);
}

static void check_refused(void **state)
{
    const struct include_case *row = *state;
    const bool no_file = strstr(row->want, "cannot read") || strstr(row->want, "regular file");
    assert_int_equal(read_case(row), no_file ? STATUS_WORLD : STATUS_INPUT);
    if (strstr(shown, with_folder(row->want)) == NULL)
        fail_msg("'%s' is not in:\n%s", with_folder(row->want), shown);
}

/* A chain of levels: 16 below the scenario are read, 17 are not. */
static void check_levels(void **state)
{
    const int levels = (int)(intptr_t)*state;
    begin();
    for (int i = 0; i < levels; i++) {
        char name[32], text[64];
        snprintf(name, sizeof name, i ? "f%d.yaml" : "main.yaml", i);
        snprintf(text, sizeof text, "include: f%d.yaml\n", i + 1);
        write_file(name, text);
    }
    char last[32];
    snprintf(last, sizeof last, "f%d.yaml", levels);
    write_file(last, BASE);
    const enum status status = read_main();
    for (int i = 1; i <= levels; i++) {
        snprintf(last, sizeof last, "f%d.yaml", i);
        remove(inside(last));
    }
    remove(inside("main.yaml"));
    rmdir(folder);
    assert_int_equal(status, levels <= 16 ? STATUS_OK : STATUS_INPUT);
    if (levels > 16) assert_non_null(strstr(shown, "include: more than 16 levels: "));
}

/* Two includes a level would be 2^16 files; reading stops at 64. */
static void two_on_each_level(void **state)
{
    (void)state;
    begin();
    char name[32], text[64];
    for (int i = 0; i < 16; i++) {
        snprintf(name, sizeof name, i ? "f%d.yaml" : "main.yaml", i);
        snprintf(text, sizeof text, "include: [f%d.yaml, f%d.yaml]\n", i + 1, i + 1);
        write_file(name, text);
    }
    write_file("f16.yaml", BASE);
    const enum status status = read_main();
    for (int i = 1; i <= 16; i++) {
        snprintf(name, sizeof name, "f%d.yaml", i);
        remove(inside(name));
    }
    remove(inside("main.yaml"));
    rmdir(folder);
    assert_int_equal(status, STATUS_INPUT);
    assert_non_null(strstr(shown, "include: more than 64 files"));
}

static void all_files_are_stored(void **state)
{
    (void)state;
    static const struct include_case row = { "",
                                             { MAIN("include: [parts/b.yaml]\nseed: 5\n"),
                                               { "parts/b.yaml", "include: c.yaml\n" },
                                               { "parts/c.yaml", BASE } },
                                             "" };
    assert_int_equal(read_case(&row), STATUS_OK);
    assert_string_equal(scenario.text, "include: [parts/b.yaml]\nseed: 5\n"
                                       "\n--- # included: parts/b.yaml\ninclude: c.yaml\n"
                                       "\n--- # included: parts/c.yaml\n" BASE);
    assert_int_equal(scenario.text_bytes, strlen(scenario.text));
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof merged / sizeof *merged; i++)
        rows_add(&rows, check_merged, &merged[i], "%s", merged[i].name);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        rows_add(&rows, check_refused, &refused[i], "%s", refused[i].name);
    rows_add(&rows, check_levels, (const void *)(uintptr_t)16, "P97 16 levels");
    rows_add(&rows, check_levels, (const void *)(uintptr_t)17, "P97 17 levels");
    rows_add(&rows, two_on_each_level, NULL, "P97 two includes on each level");
    rows_add(&rows, all_files_are_stored, NULL, "all files are stored");
    const int failed = rows_run("include", &rows);
    scenario_clear(&scenario);
    return failed;
}
