/* test_input.c - what is packed comes out whole, what cannot be whole is refused. */
#include "io/input.h"

#include "trace_files.h"

#include <zlib.h>
#include <zstd.h>

struct packed {
    char *bytes;
    size_t count;
};

/* One gzip member of text[count]. */
static struct packed gzip_of(const char *text, size_t count)
{
    z_stream stream = { 0 };
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
    const size_t most = deflateBound(&stream, count) + 64;
    struct packed packed = { malloc(most), 0 };
    stream.next_in = (Bytef *)text;
    stream.avail_in = (uInt)count;
    stream.next_out = (Bytef *)packed.bytes;
    stream.avail_out = (uInt)most;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.count = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

static struct packed zstd_of(const char *text, size_t count)
{
    struct packed packed = { malloc(ZSTD_compressBound(count)), 0 };
    packed.count = ZSTD_compress(packed.bytes, ZSTD_compressBound(count), text, count, 3);
    assert_false(ZSTD_isError(packed.count));
    return packed;
}

static struct packed twice(struct packed one)
{
    struct packed two = { malloc(2 * one.count), 2 * one.count };
    memcpy(two.bytes, one.bytes, one.count);
    memcpy(two.bytes + one.count, one.bytes, one.count);
    free(one.bytes);
    return two;
}

/* Digits and line ends: packs to about a third, so no ratio is suspicious. */
static char *some_text(size_t count)
{
    char *text = malloc(count + 1);
    uint32_t x = 12345;
    for (size_t i = 0; i < count; i++) {
        x = x * 1664525u + 1013904223u;
        text[i] = x >> 28 == 0 ? '\n' : (char)('0' + (x >> 24) % 10);
    }
    text[count] = '\0';
    return text;
}

/* Reads bytes as a file; expects `want` and, when that is STATUS_OK, text[count]. */
static void expect(struct packed packed, enum status want, const char *text, size_t count)
{
    char path[FILE_PATH_BYTES];
    struct diag *diag = diag_create();
    struct input input;
    const enum status status =
        input_read(file_with(path, packed.bytes, packed.count), &input, diag);
    if (status != want) diag_print(diag, stdout);
    assert_int_equal(status, want);
    if (want == STATUS_OK) {
        assert_int_equal(input.byte_count, count);
        assert_memory_equal(input.bytes, text, count);
        assert_int_equal(input.bytes[count], 0);
    }
    input_clear(&input);
    diag_destroy(diag);
    unlink(path);
    free(packed.bytes);
}

static void whole_files_come_back(void **state)
{
    (void)state;
    static const size_t lengths[] = { 1, 65535, 65536, 65537, 1000003 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const size_t count = lengths[i];
        char *text = some_text(count);
        struct packed plain = { malloc(count), count };
        memcpy(plain.bytes, text, count);
        expect(plain, STATUS_OK, text, count);
        expect(gzip_of(text, count), STATUS_OK, text, count);
        expect(zstd_of(text, count), STATUS_OK, text, count);
        free(text);
    }
}

static void members_are_joined(void **state)
{
    (void)state;
    expect(twice(gzip_of("a,b\n", 4)), STATUS_OK, "a,b\na,b\n", 8);
    expect(twice(zstd_of("a,b\n", 4)), STATUS_OK, "a,b\na,b\n", 8);
}

static void equal_content_has_equal_digest(void **state)
{
    (void)state;
    char path[FILE_PATH_BYTES];
    struct diag *diag = diag_create();
    struct input plain, packed;
    assert_int_equal(input_read(file_with(path, "x,y\n1,2\n", 8), &plain, diag), STATUS_OK);
    unlink(path);
    struct packed gzip = gzip_of("x,y\n1,2\n", 8);
    assert_int_equal(input_read(file_with(path, gzip.bytes, gzip.count), &packed, diag), STATUS_OK);
    unlink(path);
    assert_true(plain.digest == packed.digest);
    input_clear(&plain);
    input_clear(&packed);
    free(gzip.bytes);
    diag_destroy(diag);
}

static void damaged_data_is_refused(void **state)
{
    (void)state;
    char *text = some_text(5000);
    for (size_t cut = 1; cut < 40; cut += 3) {
        struct packed gzip = gzip_of(text, 5000);
        gzip.count -= cut;
        expect(gzip, STATUS_INPUT, NULL, 0);
        struct packed zstd = zstd_of(text, 5000);
        zstd.count -= cut;
        expect(zstd, STATUS_INPUT, NULL, 0);
    }
    struct packed flipped = gzip_of(text, 5000);
    flipped.bytes[flipped.count - 6] ^= 1; /* its check sum */
    expect(flipped, STATUS_INPUT, NULL, 0);
    struct packed trailed = gzip_of(text, 5000);
    trailed.bytes[trailed.count++] = 'x';
    expect(trailed, STATUS_INPUT, NULL, 0);
    free(text);
}

/* 64 MiB of zeros: gzip packs them 1 : 1030, zstd 1 : 10,000 and more (P85). */
static void bombs_are_refused(void **state)
{
    (void)state;
    const size_t count = (size_t)64 << 20;
    char *zeros = calloc(1, count);
    expect(gzip_of(zeros, count), STATUS_INPUT, NULL, 0);
    expect(zstd_of(zeros, count), STATUS_INPUT, NULL, 0);
    free(zeros);
}

static void odd_paths_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum status want;
    } cases[] = {
        { "/", STATUS_WORLD },
        { "/dev/zero", STATUS_WORLD },
        { "there/is/no/such/file", STATUS_WORLD },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diag *diag = diag_create();
        struct input input;
        assert_int_equal(input_read(cases[i].path, &input, diag), cases[i].want);
        assert_int_equal(diag_error_count(diag), 1);
        input_clear(&input);
        diag_destroy(diag);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_files_come_back),
        cmocka_unit_test(members_are_joined),
        cmocka_unit_test(equal_content_has_equal_digest),
        cmocka_unit_test(damaged_data_is_refused),
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(odd_paths_are_refused),
    };
    return cmocka_run_group_tests_name("input", tests, NULL, NULL);
}
