/* test_caps.c - small files that would grow large are refused by the program within a second and 100 MB.
 *
 * The program runs as a process of its own, so that its time and its memory are the system's numbers.
 * Under the sanitizers, which need memory of their own, time and memory are not judged. */
#include "tests/rows.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

extern char **environ;

#ifdef __SANITIZE_ADDRESS__
enum { IS_SLOW = 1 };
#else
enum { IS_SLOW = 0 };
#endif

enum { MB = 1000000, MIB = 1048576 };

static const char scenario_head[] = "gpuplan: 1\nname: x\nlayouts:\n"
                                    "  - {name: a, servers: {type: hgx-h100-8, count: 2}, fabric: "
                                    "{type: two-tier, link: ib-ndr400, "
                                    "nics_per_gpu: 1}}\nbaseline: a\n";

static void put(FILE *out, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++) fputs(text, out);
}

static void billion_gpus(FILE *out)
{
    put(out,
        "gpuplan: 1\nname: x\nlayouts:\n"
        "  - {name: a, servers: {type: hgx-h100-8, count: 125000000}, fabric: {type: two-tier, "
        "link: "
        "ib-ndr400, nics_per_gpu: 1}}\nbaseline: a\n",
        1);
}

static void brackets(FILE *out)
{
    put(out, "[", 5000000);
}
static void maps(FILE *out)
{
    put(out, "{a: ", 4000000);
}
static void json_maps(FILE *out)
{
    put(out, "{\"a\":", 3000000);
}

static void laughs(FILE *out)
{
    put(out, scenario_head, 1);
    put(out, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n", 1);
    for (int i = 1; i < 9; i++) {
        fprintf(out, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++) fprintf(out, "%s*a%d", k ? "," : "", i - 1);
        fputs("]\n", out);
    }
}

static void many_keys(FILE *out)
{
    for (int i = 0; i < 1000000; i++) fprintf(out, "k%d: 1\n", i);
}

/* `count` times text[bytes] as one gzip stream; a portion is packed once, then repeated: after a full
 * flush nothing depends on what went before. */
static void put_gzip(FILE *out, const char *text, size_t bytes, size_t count, int level)
{
    static unsigned char packed[2 * MIB];
    z_stream stream = { 0 };
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)text;
    stream.avail_in = (uInt)bytes;
    stream.next_out = packed;
    stream.avail_out = sizeof packed;
    assert_int_equal(deflate(&stream, Z_FULL_FLUSH), Z_OK);
    const size_t packed_bytes = sizeof packed - stream.avail_out;
    deflateEnd(&stream);
    static const unsigned char head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3 };
    fwrite(head, 1, sizeof head, out);
    for (size_t i = 0; i < count; i++) fwrite(packed, 1, packed_bytes, out);
    static const unsigned char last[] = { 1, 0, 0, 0xff, 0xff }; /* an empty stored block */
    fwrite(last, 1, sizeof last, out);
    const uLong one = crc32(crc32(0, NULL, 0), (const Bytef *)text, (uInt)bytes);
    uLong sum = one;
    for (size_t i = 1; i < count; i++) sum = crc32_combine(sum, one, (z_off_t)bytes);
    const uint32_t tail[] = { (uint32_t)sum, (uint32_t)(bytes * count) }; /* little endian */
    fwrite(tail, 1, sizeof tail, out);
}

static char portion[MIB];

static void zeros(FILE *out) /* 3 GiB */
{
    memset(portion, 0, sizeof portion);
    put_gzip(out, portion, sizeof portion, 3072, 9);
}

static void zeros_packed_badly(FILE *out)
{
    memset(portion, 0, sizeof portion);
    put_gzip(out, portion, sizeof portion, 3072, 1);
}

static void blanks(FILE *out)
{
    memset(portion, '\n', sizeof portion);
    put_gzip(out, portion, sizeof portion, 3072, 9);
}

/* The same as gzip files one behind the other. */
static void members(FILE *out)
{
    memset(portion, 'x', sizeof portion);
    for (int i = 0; i < 384; i++) put_gzip(out, portion, sizeof portion, 8, 9);
}

static void quote(FILE *out)
{
    put(out, "job_id,submit_s,duration_s,gpus\n\"", 1);
    put(out, "a,0,1,1\n", 1500000);
}

static void one_line(FILE *out)
{
    put(out, "job_id,", 2000000);
}

static const struct caps_case {
    const char *name, *ending, *command[2];
    void (*write)(FILE *out);
    const char *want;
} cases[] = {
    { "P46 a billion GPUs",
      ".yaml",
      { "check" },
      billion_gpus,
      "1000000000 GPUs would need about" },
    { "P27 5,000,000 brackets",
      ".yaml",
      { "check" },
      brackets,
      ":1:65: error: nested deeper than 64 levels" },
    { "P27 5,000,000 brackets in JSON",
      ".json",
      { "check" },
      brackets,
      ":1:65: error: nested deeper than 64 levels" },
    { "P27 4,000,000 maps", ".yaml", { "check" }, maps, "error: nested deeper than 64 levels" },
    { "P27 3,000,000 maps in JSON",
      ".json",
      { "check" },
      json_maps,
      "error: nested deeper than 64 levels" },
    { "P19 a billion laughs",
      ".yaml",
      { "check" },
      laughs,
      "error: more than 100000 values, aliases expanded" },
    { "P28 a million keys", ".yaml", { "check" }, many_keys, "error: more than 100000 values" },
    { "P85 3 GiB of zeros as gzip",
      ".csv.gz",
      { "trace", "info" },
      zeros,
      ":1:1: error: a NUL byte in the unpacked data" },
    { "P85 3 GiB of zeros packed fast",
      ".csv.gz",
      { "trace", "info" },
      zeros_packed_badly,
      ":1:1: error: a NUL byte in the unpacked data" },
    { "P85 3 GiB of line ends as gzip",
      ".csv.gz",
      { "trace", "info" },
      blanks,
      "error: unpacks to more than 1000 times its length; unpack it by hand" },
    { "P85 3 GiB in 384 members",
      ".csv.gz",
      { "trace", "info" },
      members,
      "error: unpacks to more than 1000 times its length" },
    { "P80 an unclosed quote",
      ".csv",
      { "trace", "info" },
      quote,
      ":2:1: error: the record that begins here does not end" },
    { "P80 two million columns", ".csv", { "trace", "info" }, one_line, "error: " },
};

/* Runs the program on the file; returns its exit code. */
static int run(const struct caps_case *row, char *path, int err_fd, struct rusage *usage)
{
    static char program[4096];
    const char *build = getenv("BUILD");
    snprintf(program, sizeof program, "%s/gpuplan", build ? build : "build");
    char *argv[5] = { program };
    size_t count = 1;
    for (size_t i = 0; i < 2 && row->command[i]; i++)
        argv[count++] = (char *)(uintptr_t)row->command[i];
    argv[count] = path;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, err_fd, STDERR_FILENO);
    pid_t child = 0;
    assert_int_equal(posix_spawn(&child, program, &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    int state = 0;
    assert_int_equal(wait4(child, &state, 0, usage), child);
    assert_true(WIFEXITED(state));
    return WEXITSTATUS(state);
}

static void check_cap(void **state)
{
    const struct caps_case *row = *state;
    char path[256];
    snprintf(path, sizeof path, "%s/gpuplan-test-XXXXXX%s", P_tmpdir, row->ending);
    const int fd = mkstemps(path, (int)strlen(row->ending));
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "wb");
    row->write(file);
    assert_int_equal(fclose(file), 0);
    FILE *err = tmpfile();
    struct rusage usage;
    const int code = run(row, path, fileno(err), &usage);
    unlink(path);
    static char shown[65536];
    rewind(err);
    shown[fread(shown, 1, sizeof shown - 1, err)] = '\0';
    fclose(err);
    if (strstr(shown, row->want) == NULL) fail_msg("'%s' is not in:\n%s", row->want, shown);
    assert_int_equal(code, 2);
    const double cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    printf("             %s: %.3f s, %ld MB\n", row->name, cpu_s, usage.ru_maxrss * 1024 / MB);
    if (IS_SLOW) return;
    assert_true(cpu_s < 1.0);
    assert_true(usage.ru_maxrss * 1024 < 100L * MB);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        rows_add(&rows, check_cap, &cases[i], "%s", cases[i].name);
    return rows_run("caps", &rows);
}
