/* report.c - see report.h. */
#include "report/report.h"

#include "base/text.h"
#include "report/compare.h"
#include "report/compare_json.h"
#include "report/gates.h"
#include "report/moves_text.h"
#include "report/prose.h"
#include "report/settle.h"
#include "report/tables.h"
#include "report/tables_jobs.h"
#include "report/verdict.h"

#include <stdlib.h>
#include <string.h>

static enum status print_verdict(const struct comparison *c, const struct moves *moves, FILE *out,
                                 struct diag *diag)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);
    if (memory == NULL) return diag_world(diag, "out of memory while writing the verdict");
    verdict_write(c, moves, memory);
    fclose(memory);
    if (text != NULL) prose_wrap(out, text, PROSE_COLUMNS);
    free(text);
    return STATUS_OK;
}

static void print_question(const struct stored *stored, FILE *out)
{
    const char *question = stored_meta(stored, "question");
    char safe[2600];
    if (question == NULL || *question == '\0') return;
    prose_wrap(out, text_escape(question, strlen(question), safe, sizeof safe), PROSE_COLUMNS);
    fputc('\n', out);
}

static enum status print_text(const char *db_path, const struct comparison *c,
                              const struct moves *moves, FILE *out,
                              const struct report_options *options, struct diag *diag)
{
    print_question(c->stored, out);
    TRY(print_verdict(c, moves, out, diag));
    fputc('\n', out);
    tables_overview(c, out);
    TRY(tables_jobs(c, db_path, out, diag));
    if (options->brief) return STATUS_OK;
    tables_layouts(c, out);
    moves_table(moves, out);
    tables_notes(c, out);
    struct settle settle;
    TRY(settle_read(c, db_path, &settle, diag));
    settle_write(c, &settle, out);
    return STATUS_OK;
}

struct rules {
    struct gate_rule rule[2 * LIMIT_GATES];
    uint32_t count;
};

static enum status read_rules(const struct comparison *c, const struct report_options *options,
                              struct rules *rules, struct diag *diag)
{
    rules->count = gates_of_scenario(c->stored, rules->rule);
    if (options->fail_if_count > LIMIT_GATES)
        return diag_usage(diag, "more than %d times --fail-if", LIMIT_GATES);
    for (size_t i = 0; i < options->fail_if_count; i++)
        TRY(gate_parse(c, options->fail_if[i], &rules->rule[rules->count++], diag));
    return STATUS_OK;
}

static enum status print_comparison(const char *db_path, const struct comparison *c,
                                    const struct moves *moves, FILE *out,
                                    const struct report_options *options, struct diag *diag)
{
    struct rules rules;
    TRY(read_rules(c, options, &rules, diag)); /* a slip is refused before anything is printed */
    if (options->json)
        TRY(compare_json(c, moves, out, diag));
    else
        TRY(print_text(db_path, c, moves, out, options, diag));
    if (rules.count > 0 && !options->json) fputc('\n', out);
    /* With --json the gates go to stderr: stdout holds one object and nothing else. */
    return gates_check(c, rules.rule, rules.count, options->json ? stderr : out, diag);
}

enum status report_print(const char *db_path, FILE *out, const struct report_options *options,
                         struct diag *diag)
{
    struct stored stored;
    struct comparison comparison = { 0 };
    struct moves moves = { 0 };
    enum status status = store_read(db_path, &stored, diag);
    if (status == STATUS_OK)
        status = comparison_build(&stored, options->baseline, &comparison, diag);
    if (status == STATUS_OK) status = moves_build(&comparison, &moves, diag);
    if (status == STATUS_OK)
        status = print_comparison(db_path, &comparison, &moves, out, options, diag);
    moves_clear(&moves);
    comparison_clear(&comparison);
    stored_clear(&stored);
    return status;
}
