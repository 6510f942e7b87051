/* test_csv.c - hand-made records, and libcsv as the judge over random texts. */
#include "io/csv.h"

#include "trace_files.h"

#include <csv.h>

/* ---- known texts: fields joined by |, records by / ------------------------------------------ */

static const struct {
    const char *name, *text, *want;
} cases[] = {
    { "plain", "a,b\n1,2\n", "a|b/1|2" },
    { "no last line end", "a,b\n1,2", "a|b/1|2" },
    { "CR LF", "a,b\r\n1,2\r\n", "a|b/1|2" },
    { "CR alone", "a,b\r1,2\r", "a|b/1|2" },
    { "byte-order mark",
      "\xef\xbb\xbf"
      "a,b\n",
      "a|b" },
    { "empty lines", "\n\na,b\n\n\n1,2\n\n", "a|b/1|2" },
    { "empty fields", ",\n,,\n", "|/||" },
    { "one empty quoted field", "\"\"\n", "" },
    { "trailing comma", "a,b,\n1,2,\n", "a|b|/1|2|" },
    { "quoted comma", "\"a,b\",c\n", "a,b|c" },
    { "quoted line end", "\"a\nb\",c\nd\n", "a\nb|c/d" },
    { "doubled quote", "\"say \"\"hi\"\"\",x\n", "say \"hi\"|x" },
    { "only doubled quotes", "\"\"\"\"\"\"\n", "\"\"" },
    { "quote inside a plain field", "a\"b,c\n", "a\"b|c" },
    { "blanks are kept", " a , b\n", " a | b" },
    { "quoted last field at the end", "a,\"b\"", "a|b" },
    { "hash is text behind the header", "a\n#b\n", "a/#b" },
};

/* All records of a text in the form of `want`; false when the text is refused. */
static bool flatten(const char *text, size_t bytes, char *out, struct diag *diag)
{
    struct csv csv;
    bool found = true;
    size_t count = 0;
    if (csv_begin(&csv, "t.csv", text, bytes, diag) != STATUS_OK) return false;
    for (uint32_t record = 0;; record++) {
        if (csv_next(&csv, &found) != STATUS_OK) return false;
        if (!found) break;
        if (record > 0) out[count++] = '/';
        for (uint32_t i = 0; i < csv.field_count; i++) {
            if (i > 0) out[count++] = '|';
            count += csv_copy(&csv.fields[i], out + count);
        }
    }
    out[count] = '\0';
    return true;
}

static void known_text(void **state)
{
    const size_t row = *(const size_t *)*state;
    char got[256];
    struct diag *diag = diag_create();
    assert_true(flatten(cases[row].text, strlen(cases[row].text), got, diag));
    assert_string_equal(got, cases[row].want);
    diag_destroy(diag);
}

/* ---- libcsv -------------------------------------------------------------------------------- */

struct flat {
    char *text;
    size_t count;
    bool has_record, has_field;
};

static void on_field(void *bytes, size_t count, void *data)
{
    struct flat *flat = data;
    if (!flat->has_field && flat->has_record) flat->text[flat->count++] = '/';
    if (flat->has_field) flat->text[flat->count++] = '|';
    memcpy(flat->text + flat->count, bytes, count);
    flat->count += count;
    flat->has_field = flat->has_record = true;
}

static void on_record(int end, void *data)
{
    (void)end;
    ((struct flat *)data)->has_field = false;
}

static int never(unsigned char c)
{
    (void)c;
    return 0;
}

/* Random texts of few kinds of bytes, so that every kind meets every other. A plain field never
 * holds a quote: libcsv reads those in its own way. */
static size_t random_text(uint32_t *x, char *out)
{
    size_t count = 0;
    const int fields = 1 + (int)(*x >> 20) % 12;
    for (int i = 0; i < fields; i++) {
        *x = *x * 1664525u + 1013904223u;
        const bool quoted = *x >> 31;
        if (quoted) out[count++] = '"';
        for (uint32_t n = (*x >> 27) & 7; n > 0; n--) {
            *x = *x * 1664525u + 1013904223u;
            const char c = (quoted ? "ab \",\n\rc" : "ab cdefg")[*x >> 29];
            if (c == '"') out[count++] = '"';
            out[count++] = c;
        }
        if (quoted) out[count++] = '"';
        *x = *x * 1664525u + 1013904223u;
        const char *const stop =
            (const char *[]){ ",", "\n", "\r\n", ",", "\n\n", ",", "\r", "," }[*x >> 29];
        memcpy(out + count, stop, strlen(stop));
        count += strlen(stop);
    }
    return count;
}

static void equals_libcsv_on_random_texts(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 20000; seed++) {
        char text[512], want[512], got[512];
        uint32_t x = seed * 2654435761u;
        const size_t bytes = random_text(&x, text);
        struct csv_parser parser;
        struct flat flat = { .text = want };
        assert_int_equal(csv_init(&parser, CSV_STRICT), 0);
        csv_set_space_func(&parser, never);
        assert_int_equal(csv_parse(&parser, text, bytes, on_field, on_record, &flat), bytes);
        csv_fini(&parser, on_field, on_record, &flat);
        csv_free(&parser);
        want[flat.count] = '\0';
        struct diag *diag = diag_create();
        assert_true(flatten(text, bytes, got, diag));
        if (strcmp(got, want) != 0) fail_msg("seed %u: '%s' is not '%s'", seed, got, want);
        diag_destroy(diag);
    }
}

/* ---- what is refused, and where ------------------------------------------------------------- */

static void expect_refusal(const char *text, size_t bytes, const char *want)
{
    char *out = malloc(bytes + 16), *printed = NULL;
    size_t printed_bytes;
    struct diag *diag = diag_create();
    assert_false(flatten(text, bytes, out, diag));
    FILE *stream = open_memstream(&printed, &printed_bytes);
    diag_print(diag, stream);
    fclose(stream);
    if (strncmp(printed, want, strlen(want)) != 0) fail_msg("got '%s', want '%s'", printed, want);
    free(printed);
    free(out);
    diag_destroy(diag);
}

static void wrong_texts_are_refused_with_their_place(void **state)
{
    (void)state;
    expect_refusal("a,b\n1,\"2\n3,4\n", 13,
                   "t.csv:2:1: error: the record that begins here does not end");
    expect_refusal("a,b\n1,\"2\"3\n", 11, "t.csv:2:6: error: text behind a closing quote");
    expect_refusal("a,b\n1,\0\n", 8, "t.csv:2:3: error: holds a NUL byte");
    expect_refusal("\xff\xfe"
                   "a\0",
                   4, "t.csv: error: is UTF-16");
}

static void long_texts_are_refused(void **state)
{
    (void)state;
    const size_t bytes = (size_t)LIMIT_FIELD_BYTES + 100;
    char *text = malloc(bytes);
    memset(text, 'x', bytes);
    expect_refusal(text, bytes, "t.csv:1:1: error: this field is longer");
    text[0] = '"';
    expect_refusal(text, bytes, "t.csv:1:1: error: the record that begins here does not end");
    memset(text + 1, '\n', LIMIT_RECORD_LINES + 1);
    expect_refusal(text, bytes, "t.csv:1:1: error: the record that begins here does not end");
    memset(text, ',', bytes);
    expect_refusal(text, bytes, "t.csv:1:1: error: this record has more than 1024 fields");
    free(text);
}

int main(void)
{
    enum { CASES = sizeof cases / sizeof *cases, OTHERS = 3 };
    static size_t rows[CASES];
    struct CMUnitTest tests[CASES + OTHERS] = {
        [CASES] = cmocka_unit_test(equals_libcsv_on_random_texts),
        [CASES + 1] = cmocka_unit_test(wrong_texts_are_refused_with_their_place),
        [CASES + 2] = cmocka_unit_test(long_texts_are_refused),
    };
    for (size_t i = 0; i < CASES; i++) {
        rows[i] = i;
        tests[i] = (struct CMUnitTest){ .name = cases[i].name,
                                        .test_func = known_text,
                                        .initial_state = &rows[i] };
    }
    return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
