/* test_flows_text.c - io/flows_text: what a network as text holds, and that what is wrong is refused at its place. */
#include "io/flows_text.h"
#include "tests/rows.h"
#include "tests/trace_files.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct flows_text text;
static char said[32768]; /* the problems, with F for the file's name */

static void forget_name(const char *path)
{
    const size_t bytes = strlen(path);
    for (char *at; (at = strstr(said, path)) != NULL;) {
        at[0] = 'F';
        memmove(at + 1, at + bytes, strlen(at + bytes) + 1);
    }
}

static enum status read_bytes(const char *bytes, size_t count)
{
    char path[FILE_PATH_BYTES];
    file_with(path, bytes, count);
    struct diag *diag = diag_create();
    const enum status status = flows_text_read(path, &text, diag);
    memset(said, 0, sizeof said);
    FILE *out = fmemopen(said, sizeof said - 1, "w");
    assert_non_null(out);
    diag_print(diag, out);
    fclose(out);
    diag_destroy(diag);
    forget_name(path);
    return status;
}

/* Line ends of Windows, tabs, comments behind a statement, a flow before its links, units, no last line end. */
static void text_is_read(void **state)
{
    (void)state;
    static const char bytes[] = "# two\r\n"
                                "flow\tx 1ms 2MB\tb,a y # sends\r\n"
                                "\r\n"
                                "link a 12.5GB/s 10us\n"
                                "  link b 1e9 0\n"
                                "link x 0 1e-05\n"
                                "flow y 0 0 x";
    assert_int_equal(read_bytes(bytes, sizeof bytes - 1), STATUS_OK);
    assert_string_equal(said, "");
    assert_int_equal(text.link_count, 3);
    assert_int_equal(text.flow_count, 2);
    assert_true(text.links[0].bytes_per_s == 12.5e9 && text.links[0].latency_s == 10e-6);
    assert_true(text.links[1].bytes_per_s == 1e9 && text.links[1].latency_s == 0);
    assert_memory_equal(text.flows[0].name, "x ", 2);
    assert_true(text.flows[0].start_s == 1e-3 && text.flows[0].size_bytes == 2e6);
    assert_int_equal(text.flows[0].link_count, 2);
    assert_int_equal(text.path[0], 1);
    assert_int_equal(text.path[1], 0);
    assert_int_equal(text.flows[0].after_count, 1);
    assert_int_equal(text.after[0], 1);
    assert_int_equal(text.flows[1].after_count, 0);
    flows_text_clear(&text);
}

/* A wrong text, and all that is said about it: F:LINE:COLUMN, the line, a caret. */
struct bad_case {
    const char *name, *text, *said;
};
static const struct bad_case bad[] = {
    { "a negative bandwidth", "link a -1 0\nflow f 0 1 a\n",
      "F:1:8: error: BANDWIDTH must be 0 to 1e18 bytes per second, got -1\n"
      "    1 | link a -1 0\n"
      "      |        ^~\n" },
    { "a latency that is not a number", "link a 1 nan\nflow f 0 1 a\n",
      "F:1:10: error: cannot read LATENCY 'nan': " },
    { "a latency too short", "link a 1 1e-13\nflow f 0 1 a\n",
      "F:1:10: error: LATENCY must be 0, or 1e-12 to 1e9 seconds, got 1e-13\n" },
    { "an infinite size", "link a 1 0\nflow f 0 inf a\n",
      "F:2:10: error: cannot read BYTES 'inf'" },
    { "a size beyond all", "link a 1 0\nflow f 0 1e25 a\n",
      "F:2:10: error: BYTES must be 0 to 1e24 bytes, got 1e25\n" },
    { "a start in megabytes", "link a 1 0\nflow f 1MB 1 a\n",
      "F:2:8: error: cannot read START '1MB'" },
    { "a negative start", "link a 1 0\nflow f -0.5 1 a\n",
      "F:2:8: error: START must be 0 to 1e12 seconds, got -0.5\n" },
    { "an unknown statement", "lnik a 1 0\nflow f 0 1 a\n",
      "F:1:1: error: unknown statement 'lnik', did you mean 'link'?; a line is a link or a flow\n"
      "    1 | lnik a 1 0\n"
      "      | ^~~~\n" },
    { "a word is missing", "link a 1\nflow f 0 1 a\n",
      "F:1:8: error: a word is missing behind this one; write: link NAME BANDWIDTH LATENCY\n" },
    { "no path", "link a 1 0\nflow f 0 1\n",
      "F:2:10: error: a word is missing behind this one; write: flow NAME START BYTES LINK" },
    { "a word too many", "link a 1 0 0\nflow f 0 1 a\n", "F:1:12: error: one word too many" },
    { "blanks in a list", "link a 1 0\nlink b 1 0\nflow f 0 1 a, b c\n",
      "F:3:17: error: one word too many; write: flow NAME" },
    { "a link twice", "link a 1 0\nlink a 2 0\nflow f 0 1 a\n",
      "F:2:6: error: link 'a' is given twice; the first is in line 1\n"
      "    2 | link a 2 0\n"
      "      |      ^\n" },
    { "a flow twice", "link a 1 0\nflow f 0 1 a\nflow g 0 1 a\nflow f 1 1 a\n",
      "F:4:6: error: flow 'f' is given twice; the first is in line 2\n" },
    { "an unknown link", "link core1 1 0\nflow f 0 1 croe1\n",
      "F:2:12: error: no link is named 'croe1'; did you mean 'core1'?\n"
      "    2 | flow f 0 1 croe1\n"
      "      |            ^~~~~\n" },
    { "an unknown flow", "link a 1 0\nflow f 0 1 a step7\n",
      "F:2:14: error: no flow is named 'step7'\n" },
    { "a link twice in a path", "link a 1 0\nflow f 0 1 a,a\n",
      "F:2:14: error: link 'a' twice in one list\n" },
    { "a flow waited for twice", "link a 1 0\nflow f 0 1 a\nflow g 0 1 a f,f\n",
      "F:3:16: error: flow 'f' twice in one list\n" },
    { "an empty name in a list", "link a 1 0\nflow f 0 1 ,a\n",
      "F:2:12: error: a name is missing; write names with one comma between them\n" },
    { "a comma at the end", "link a 1 0\nflow f 0 1 a,\n", "F:2:" },
    { "a comma in a name", "link a,b 1 0\nflow f 0 1 a\n",
      "F:1:6: error: the name 'a,b' must not hold commas or what cannot be shown\n" },
    { "an escape in a name", "link \x1b[2J 1 0\nflow f 0 1 a\n",
      "F:1:6: error: the name '\\x1b[2J' must not hold commas or what cannot be shown\n" },
    { "a name too long",
      "link a1234567890123456789012345678901234567890123456789012345678901234567890 1 0\n",
      "F:1:6: error: a name of 71 bytes; it must be 1 to 63\n" },
    { "waits for itself", "link a 1 0\nflow f 0 1 a f\n",
      "F:2:14: error: flow 'f' waits for itself\n" },
    { "a ring of three, and one that waits for it",
      "link a 1 0\nflow e 0 1 a f\nflow f 0 1 a h\nflow g 0 1 a f\nflow h 0 1 a g\n",
      "F:3:14: error: flow 'f' waits for itself: 'h', which it waits for, waits for it\n" },
    { "nothing in it", "# nothing\n", "F: error: no flow in it; write: flow NAME" },
    { "links alone", "link a 1 0\n", "F: error: no flow in it; write: flow NAME" },
    { "several problems", "link a x 0\nflow f 0 1 b\nflow g 0 -1 a\n",
      "F:3:10: error: BYTES must be 0 to 1e24 bytes, got -1\n" },
};

static void bad_is_refused(void **state)
{
    const struct bad_case *want = *state;
    assert_int_equal(read_bytes(want->text, strlen(want->text)), STATUS_INPUT);
    if (!strstr(said, want->said)) fail_msg("said:\n%s\nwanted:\n%s", said, want->said);
    flows_text_clear(&text);
}

/* A NUL byte is a part of a word, not the end of the file. */
static void nul_byte_is_refused(void **state)
{
    (void)state;
    static const char bytes[] = "link a\0b 1 0\nflow f 0 1 a\n";
    assert_int_equal(read_bytes(bytes, sizeof bytes - 1), STATUS_INPUT);
    flows_text_clear(&text);
}

/* Twenty problems of a thousand are told, and the rest is not read. */
static void problems_have_an_end(void **state)
{
    (void)state;
    static char bytes[16000];
    for (size_t i = 0; i < 1000; i++) memcpy(bytes + 16 * i, "link a nan  0  \n", 16);
    assert_int_equal(read_bytes(bytes, sizeof bytes), STATUS_INPUT);
    assert_non_null(strstr(said, "F:20:8:"));
    assert_null(strstr(said, "F:21:8:"));
    flows_text_clear(&text);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, text_is_read, NULL, "a text is read");
    for (size_t i = 0; i < COUNT(bad); i++)
        rows_add(&rows, bad_is_refused, &bad[i], "%s", bad[i].name);
    rows_add(&rows, nul_byte_is_refused, NULL, "a NUL byte");
    rows_add(&rows, problems_have_an_end, NULL, "problems have an end");
    return rows_run("flows text", &rows);
}
