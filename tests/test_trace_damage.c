/* test_trace_damage.c - small logs with random damage: whatever they become, the reader ends, rows
 * read = imported + skipped, and columns keep their promises. Worth most with the sanitizers. */
#include "io/trace_read.h"

#include "trace_files.h"

#include <sys/mman.h>

static const char *const seeds[] = {
    "# top\njob_id,submit_s,duration_s,gpus,limit_s,nodes,cores,memory_gib,user,model\n"
    "a,0,3600.5,16,7200,2,128,0.25,\"x "
    "\"\"y\"\"\",gpt\nb,1e1,60.5,1,,,,,,\n\"c,\nd\",30,1,1,90,1,4,2,z,b\n",
    "job_id,submission_time,duration,num_gpu\nu-1,5010,1265,1\nu-2,5016,2066,8\nu-3,5016,9,64",
    "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
    "2017-11-05 01:13:03,2951.0,2,5902.0,6214e9\n2017-10-09T24:00:00+08:00,1,1,1,c\n\n",
    "; MaxProcs: 8\n 1 0 -1 10 4 -1 -1 8 60 -1 1 7 1 1 1 1 -1 -1\n2 7.5 -1 20 4 -1 -1 -1 -1 -1 5 7 "
    "1 1 1 1 -1 -1\n"
    "3 8 -1 -1 4 -1 -1 0 -1 -1 2 7 1 1 1 1 -1 -1\n",
    /* gzip of "job_id,submit_s,duration_s,gpus\na,0,1,1\n" */
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\xca\x4f\x8a\xcf\x4c\xd1\x29\x2e\x4d"
    "\xca\xcd\x2c\x89\x2f\xd6\x49\x29\x2d\x4a\x2c\xc9\xcc\xcf\x03\x32\xd3\x0b\x4a\x8b"
    "\xb9\x12\x75\x0c\x74\x0c\x75\x0c\xb9\x00\x13\xfe\xc5\x27\x28\x00\x00\x00",
};

static uint32_t next(uint32_t *x)
{
    return *x = *x * 1664525u + 1013904223u;
}

/* Bytes that mean something to one of the readers, put where they do not belong. */
static size_t damage(uint32_t *x, char *text, size_t count)
{
    static const char bytes[] = "\",;#\n\r\t -+.eE0189:TZ\0\xef\xbb\xbf\xff\x1fNA";
    for (uint32_t n = 1 + (next(x) >> 29); n > 0 && count > 2; n--) {
        const size_t at = (next(x) >> 8) % count;
        const char with = bytes[(next(x) >> 8) % (sizeof bytes - 1)];
        switch (next(x) >> 30) {
        case 0:
            text[at] = with;
            break;
        case 1:
            memmove(text + at, text + at + 1, --count - at);
            break;
        case 2:
            memmove(text + at + 1, text + at, count++ - at);
            text[at] = with;
            break;
        default:
            count = next(x) >> 30 == 0 ? at + 1 : count;
            break;
        }
    }
    return count;
}

static void check_jobs(const struct jobs *jobs, const struct import_report *report)
{
    uint64_t skipped = 0;
    for (uint32_t i = 0; i < report->skipped_count; i++) skipped += report->skipped[i].rows;
    assert_true(report->rows_read == report->imported + skipped);
    for (uint32_t i = 0; i < jobs->count; i++) {
        assert_true(jobs->submit_ns[i] >= (i ? jobs->submit_ns[i - 1] : 0));
        assert_true(jobs->duration_ns[i] >= 0 && jobs->limit_ns[i] > 0 && jobs->gpus[i] >= 1);
        assert_true(jobs->id[i] < jobs->text_bytes);
    }
}

static void damaged_logs(void **state)
{
    const size_t seed_row = *(const size_t *)*state;
    const bool is_gzip = seeds[seed_row][0] == '\x1f';
    const size_t seed_bytes = is_gzip ? 58 : strlen(seeds[seed_row]);
    char path[FILE_PATH_BYTES], text[1024];
    /* In memory: some file systems flush a file that is written anew, 15,000 times. */
    const int fd = memfd_create("damaged", MFD_CLOEXEC);
    assert_true(fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (uint32_t round = 0; round < 3000; round++) {
        uint32_t x = round * 2654435761u + (uint32_t)seed_row;
        memcpy(text, seeds[seed_row], seed_bytes);
        const size_t count = damage(&x, text, seed_bytes);
        assert_int_equal(ftruncate(fd, (off_t)count), 0);
        assert_int_equal(pwrite(fd, text, count, 0), count);
        struct diag *diag = diag_create();
        struct jobs jobs;
        struct import_report report;
        const struct trace_options options = { .strict = round % 4 == 0,
                                               .renumber = round % 8 == 1 };
        const enum status status = trace_read(path, &options, &jobs, &report, diag);
        assert_true(status == STATUS_OK || status == STATUS_INPUT);
        assert_true((status == STATUS_OK) == (diag_error_count(diag) == 0));
        check_jobs(&jobs, &report);
        jobs_clear(&jobs);
        diag_destroy(diag);
    }
    close(fd);
}

int main(void)
{
    enum { SEEDS = sizeof seeds / sizeof *seeds };
    static const char *const names[SEEDS] = { "gpuplan", "itp", "philly", "swf", "gzip" };
    static size_t rows[SEEDS];
    struct CMUnitTest tests[SEEDS];
    for (size_t i = 0; i < SEEDS; i++) {
        rows[i] = i;
        tests[i] = (struct CMUnitTest){ .name = names[i],
                                        .test_func = damaged_logs,
                                        .initial_state = &rows[i] };
    }
    return cmocka_run_group_tests_name("trace_damage", tests, NULL, NULL);
}
