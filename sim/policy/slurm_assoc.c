/* slurm_assoc.c - see slurm_assoc.h. */
#include "policy/slurm_assoc.h"

#include "base/assert.h"
#include "base/sort.h"

#include <stdlib.h>

static const struct name nobody = { "", 0 };

/* A row for the pair, which must not be there yet; ASSOC_NONE when memory is out. */
static uint32_t row_add(struct slurm_assoc *assoc, struct slurm_assoc_row row)
{
    if (assoc->count == assoc->capacity) {
        const uint32_t capacity = assoc->capacity ? 2 * assoc->capacity : 16;
        struct slurm_assoc_row *rows = realloc(assoc->rows, capacity * sizeof *rows);
        if (!rows) return ASSOC_NONE;
        assoc->rows = rows;
        assoc->capacity = capacity;
    }
    const uint32_t at = assoc->count;
    if (names_add(&assoc->by_name, row.account, row.user, at) != at) return ASSOC_NONE;
    assoc->rows[assoc->count++] = row;
    if (row.user.bytes > 0) assoc->users++;
    return at;
}

/* The row of an account, made below root when it is new. */
static uint32_t account_row(struct slurm_assoc *assoc, struct name account)
{
    if (account.bytes == 0) return ASSOC_ROOT;
    const uint32_t row = names_find(&assoc->by_name, account, nobody);
    if (row != NAMES_NONE) return row;
    return row_add(assoc, (struct slurm_assoc_row){ .account = account,
                                                    .user = nobody,
                                                    .parent = ASSOC_ROOT,
                                                    .spec = ASSOC_NONE,
                                                    .shares = 1 });
}

static uint32_t user_row(struct slurm_assoc *assoc, struct name account, struct name user)
{
    const uint32_t parent = account_row(assoc, account);
    if (parent == ASSOC_NONE) return ASSOC_NONE;
    return row_add(assoc, (struct slurm_assoc_row){ .account = assoc->rows[parent].account,
                                                    .user = user,
                                                    .parent = parent,
                                                    .spec = ASSOC_NONE,
                                                    .shares = 1 });
}

/* Takes over what is written about one row. The second of two lines about the same row counts. */
static bool row_written(struct slurm_assoc *assoc, const struct slurm_spec *spec, uint32_t line)
{
    const struct slurm_association *written = &spec->associations[line];
    const struct name account = name_of(written->account), user = name_of(written->user);
    uint32_t at = account.bytes ? names_find(&assoc->by_name, account, user) : ASSOC_NONE;
    if (account.bytes == 0 && user.bytes == 0) at = ASSOC_ROOT;
    if (at == NAMES_NONE)
        at = user.bytes ? user_row(assoc, account, user) : account_row(assoc, account);
    if (at == ASSOC_NONE) return false;
    assoc->rows[at].spec = line;
    assoc->rows[at].shares = written->fairshare;
    assoc->rows[at].priority = written->priority;
    if (written->priority > assoc->priority_most) assoc->priority_most = written->priority;
    return true;
}

/* Hangs a written account below its parent, unless that closes a ring: then it stays below root. */
static void hang(struct slurm_assoc *assoc, uint32_t row, const char *parent)
{
    const uint32_t target = names_find(&assoc->by_name, name_of(parent), nobody);
    if (target == NAMES_NONE) return;
    for (uint32_t up = target; up != ASSOC_NONE; up = assoc->rows[up].parent)
        if (up == row) return;
    assoc->rows[row].parent = target;
}

static bool tree_build(struct slurm_assoc *assoc, const struct slurm_spec *spec)
{
    if (spec->association_count == 0) return true;
    const struct name root = name_of("root");
    if (row_add(assoc, (struct slurm_assoc_row){ .account = root,
                                                 .user = nobody,
                                                 .parent = ASSOC_NONE,
                                                 .spec = ASSOC_NONE,
                                                 .shares = 1 }) == ASSOC_NONE)
        return false;
    if (user_row(assoc, root, root) == ASSOC_NONE) return false;
    for (uint32_t line = 0; line < spec->association_count; line++)
        if (!row_written(assoc, spec, line)) return false;
    for (uint32_t row = 1; row < assoc->count; row++) {
        const uint32_t line = assoc->rows[row].spec;
        if (line == ASSOC_NONE || slurm_assoc_is_user(assoc, row)) continue;
        if (spec->associations[line].parent[0]) hang(assoc, row, spec->associations[line].parent);
    }
    return true;
}

/* The first association written for each user: what sacctmgr calls the user's default account. */
static bool defaults_build(struct names *defaults, const struct slurm_assoc *assoc)
{
    for (uint32_t row = 0; row < assoc->count; row++) {
        if (!slurm_assoc_is_user(assoc, row) || assoc->rows[row].spec == ASSOC_NONE) continue;
        if (names_add(defaults, assoc->rows[row].user, nobody, row) == NAMES_NONE) return false;
    }
    return true;
}

/* The row of a job's account and user, which is made when the account is known. */
static bool find_or_add(struct slurm_assoc *assoc, struct name account, struct name user,
                        uint32_t *row)
{
    *row = ASSOC_NONE;
    if (names_find(&assoc->by_name, account, nobody) == NAMES_NONE) return true;
    if (user.bytes == 0) user = name_of("(nobody)");
    *row = names_find(&assoc->by_name, account, user);
    if (*row == NAMES_NONE) *row = user_row(assoc, account, user);
    return *row != ASSOC_NONE;
}

static struct name user_of_job(const struct jobs *jobs, uint32_t row)
{
    uint32_t text = TEXT_NONE;
    if (jobs->words) text = jobs->words[row].user;
    if (text == TEXT_NONE && jobs->user) text = jobs->user[row];
    return name_of(&jobs->text[text]);
}

static bool jobs_place(struct slurm_assoc *assoc, const struct jobs *jobs)
{
    struct names defaults = { 0 };
    bool ok = defaults_build(&defaults, assoc);
    for (uint32_t row = 0; ok && row < jobs->count; row++) {
        const struct name user = user_of_job(jobs, row);
        const struct name account =
            name_of(jobs->words ? &jobs->text[jobs->words[row].account] : "");
        struct slurm_who *who = &assoc->who[row];
        who->user = names_add(&assoc->user_of_name, user, nobody, assoc->user_names);
        if (who->user == assoc->user_names) assoc->user_names++;
        who->assoc = ASSOC_NONE;
        ok = who->user != NAMES_NONE;
        if (!ok || assoc->count == 0) continue;
        if (account.bytes > 0)
            ok = find_or_add(assoc, account, user, &who->assoc);
        else
            who->assoc = user.bytes ? names_find(&defaults, user, nobody) : ASSOC_NONE;
    }
    names_clear(&defaults);
    return ok;
}

/* Depths, and rows with the deepest first; rows of one depth in their order. A parent may stand behind its child. */
static bool depths(struct slurm_assoc *assoc)
{
    uint64_t *key = malloc((assoc->count + 1) * sizeof *key);
    uint32_t *spare = malloc((assoc->count + 1) * sizeof *spare);
    assoc->deepest_first = malloc((assoc->count + 1) * sizeof *assoc->deepest_first);
    const bool ok = key && spare && assoc->deepest_first;
    for (uint32_t row = 0; ok && row < assoc->count; row++) {
        uint32_t depth = 0, up = assoc->rows[row].parent;
        for (; up != ASSOC_NONE; up = assoc->rows[up].parent) depth++;
        assoc->rows[row].depth = depth;
        key[row] = UINT32_MAX - depth;
        assoc->deepest_first[row] = row;
    }
    if (ok) sort_rows(assoc->deepest_first, spare, assoc->count, key);
    free(key);
    free(spare);
    return ok;
}

bool slurm_assoc_init(struct slurm_assoc *assoc, const struct slurm_spec *spec,
                      const struct jobs *jobs)
{
    *assoc = (struct slurm_assoc){ 0 };
    assoc->who = calloc((size_t)jobs->count + 1, sizeof *assoc->who);
    const bool ok =
        assoc->who && tree_build(assoc, spec) && jobs_place(assoc, jobs) && depths(assoc);
    names_clear(&assoc->by_name);
    names_clear(&assoc->user_of_name);
    return ok;
}

void slurm_assoc_clear(struct slurm_assoc *assoc)
{
    names_clear(&assoc->by_name);
    names_clear(&assoc->user_of_name);
    free(assoc->rows);
    free(assoc->deepest_first);
    free(assoc->who);
    *assoc = (struct slurm_assoc){ 0 };
}
