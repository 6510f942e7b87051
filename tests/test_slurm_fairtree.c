/* test_slurm_fairtree.c - policy/slurm_fairtree against sshare of a real Slurm, hand calculations and a plain
 * recursion. */
#include "policy/slurm_fairtree.h"

#include "base/clock.h"

#include "tests/near.h"
#include "tests/rows.h"
#include "tests/slurm_jobs.h"

enum { PHYS, BIO, CHEM, ACCOUNTS };

struct share {
    struct slurm_association written[ACCOUNTS];
    struct slurm_spec spec;
    struct jobs jobs;
    struct slurm_assoc assoc;
    struct slurm_fairtree fair;
};

/* The accounts of recording s17; user root of each belongs to jobs 0, 1 and 2. */
static struct share *share_new(void)
{
    static const struct job_line lines[] = { { .id = "p", .account = "phys", .user = "root" },
                                             { .id = "b", .account = "bio", .user = "root" },
                                             { .id = "c", .account = "chem", .user = "root" } };
    struct share *share = calloc(1, sizeof *share);
    assert_non_null(share);
    share->written[PHYS] = association("phys", "", "", 60);
    share->written[BIO] = association("bio", "", "", 30);
    share->written[CHEM] = association("chem", "", "", 10);
    share->spec =
        (struct slurm_spec){ .associations = share->written, .association_count = ACCOUNTS };
    share->jobs = jobs_of_lines(lines, ACCOUNTS);
    assert_true(slurm_assoc_init(&share->assoc, &share->spec, &share->jobs));
    assert_true(slurm_fairtree_init(&share->fair, &share->assoc));
    return share;
}

static void share_free(struct share *share)
{
    slurm_fairtree_clear(&share->fair);
    slurm_assoc_clear(&share->assoc);
    jobs_free(&share->jobs);
    free(share);
}

/* `sshare -a -l` of s17: EffectvUsage of the three accounts, their LevelFS (0 = inf) and FairShare of their users. */
static const struct {
    const char *name;
    double usage[ACCOUNTS], level_fs[ACCOUNTS], factor[ACCOUNTS];
} captures[] = {
    { "26.05 at 95 s", { 0, 1, 0 }, { 0, 0.297030, 0 }, { 1, 0.25, 1 } },
    { "26.05 at 125 s", { 0.035718, 0.964282, 0 }, { 16.632159, 0.308032, 0 }, { 0.5, 0.25, 1 } },
    { "22.05 at 125 s",
      { 0.181828, 0.636344, 0.181828 },
      { 3.267148, 0.466776, 0.544525 },
      { 0.75, 0.25, 0.5 } },
};

static void recording_s17(void **state)
{
    const size_t row = (size_t)rows_number(state);
    struct share *share = share_new();
    for (uint32_t a = 0; a < ACCOUNTS; a++)
        share->fair.rows[share->assoc.who[a].assoc].usage = captures[row].usage[a];
    slurm_fairtree_rank(&share->fair);
    for (uint32_t a = 0; a < ACCOUNTS; a++) {
        const uint32_t user = share->assoc.who[a].assoc, account = share->assoc.rows[user].parent;
        CHECK_NEAR(slurm_fairtree_factor(&share->fair, user), captures[row].factor[a], 1e-12);
        if (captures[row].level_fs[a] == 0)
            assert_true(isinf(share->fair.rows[account].level_fs));
        else /* six digits were printed, of numbers computed from unrounded use */
            CHECK_NEAR(share->fair.rows[account].level_fs, captures[row].level_fs[a], 2e-5);
    }
    share_free(share);
}

/* u2 of s17 held 16 cores for 26 s: 416 core seconds, of which 415.98 were left 50 s later at a half-life of 7 days
 * (sshare prints 415). */
static void decay(void **state)
{
    (void)state;
    struct share *share = share_new();
    const uint32_t bio = share->assoc.who[BIO].assoc;
    slurm_fairtree_book(&share->fair, bio, 16000000, 31 * NS_PER_S);
    slurm_fairtree_book(&share->fair, bio, -16000000, 57 * NS_PER_S);
    slurm_fairtree_update(&share->fair, 7 * NS_PER_DAY, 60 * NS_PER_S);
    CHECK_NEAR(share->fair.rows[bio].usage, 416, 1e-12);
    slurm_fairtree_update(&share->fair, 7 * NS_PER_DAY, 110 * NS_PER_S);
    CHECK_NEAR(share->fair.rows[bio].usage, 416 * pow(0.5, 50.0 / 604800), 1e-12);
    assert_int_equal((int)share->fair.rows[bio].usage, 415);
    slurm_fairtree_update(&share->fair, 7 * NS_PER_DAY, 110 * NS_PER_S + 7 * NS_PER_DAY);
    CHECK_NEAR(share->fair.rows[bio].usage, 208 * pow(0.5, 50.0 / 604800), 1e-12);
    CHECK_NEAR(share->fair.rows[ASSOC_ROOT].usage, share->fair.rows[bio].usage, 0);
    /* For ever with half-life 0. */
    slurm_fairtree_update(&share->fair, 0, 900 * NS_PER_DAY);
    CHECK_NEAR(share->fair.rows[bio].usage, 208 * pow(0.5, 50.0 / 604800), 1e-12);
    share_free(share);
}

/* Two jobs of one user that overlap: 3 units from 10 s to 40 s, 5 units from 25 s on; at 55 s 90 + 150. */
static void running_jobs_are_booked(void **state)
{
    (void)state;
    struct share *share = share_new();
    const uint32_t phys = share->assoc.who[PHYS].assoc;
    slurm_fairtree_book(&share->fair, phys, 3000000, 10 * NS_PER_S);
    slurm_fairtree_book(&share->fair, phys, 5000000, 25 * NS_PER_S);
    slurm_fairtree_book(&share->fair, phys, -3000000, 40 * NS_PER_S);
    slurm_fairtree_update(&share->fair, 0, 55 * NS_PER_S);
    CHECK_NEAR(share->fair.rows[phys].usage, 240, 1e-15);
    slurm_fairtree_book(&share->fair, ASSOC_NONE, 5000000, 25 * NS_PER_S); /* no effect, no crash */
    share_free(share);
}

static void billing(void **state)
{
    (void)state;
    const struct slurm_spec spec = { .billing_cpu = 0.25,
                                     .billing_gpu = 12,
                                     .billing_mem_gib = 0.5 };
    assert_true(slurm_billing_micro(&spec, 10, 3, 6144) == 41500000); /* 2.5 + 36 + 3 */
    const struct slurm_spec cores = { .billing_cpu = 1 };
    assert_true(slurm_billing_micro(&cores, 16, 8, 1 << 20) == 16000000);
}

/* The documented walk, written as the recursion that the documentation draws. */
struct twin {
    const struct slurm_assoc *assoc;
    const struct slurm_fairtree *fair;
    double usage[64], level[64], factor[64];
    uint32_t rank, unused;
};

static double twin_usage(struct twin *twin, uint32_t row)
{
    double sum = slurm_assoc_is_user(twin->assoc, row) ? twin->fair->rows[row].usage : 0;
    for (uint32_t r = 1; r < twin->assoc->count; r++)
        if (twin->assoc->rows[r].parent == row) sum += twin_usage(twin, r);
    return twin->usage[row] = sum;
}

static void twin_walk(struct twin *twin, uint32_t account, bool account_tied)
{
    const struct slurm_assoc *assoc = twin->assoc;
    uint32_t children[64], count = 0, shares = 0;
    for (uint32_t r = 1; r < assoc->count; r++)
        if (assoc->rows[r].parent == account) {
            children[count++] = r;
            shares += assoc->rows[r].shares;
        }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = children[i];
        const double part = (double)assoc->rows[row].shares / shares;
        twin->level[row] = assoc->rows[row].shares == 0 ? 0
                           : twin->usage[row] == 0
                               ? HUGE_VAL
                               : part / (twin->usage[row] / twin->usage[account]);
        uint32_t to = i;
        for (; to > 0; to--) {
            const uint32_t before = children[to - 1];
            const bool user = slurm_assoc_is_user(assoc, row);
            if (twin->level[before] > twin->level[row]) break;
            if (twin->level[before] == twin->level[row] &&
                !(user && !slurm_assoc_is_user(assoc, before)))
                break;
            children[to] = before;
        }
        children[to] = row;
    }
    for (uint32_t i = 0; i < count; i++) {
        const bool tied =
            i == 0 ? account_tied : twin->level[children[i - 1]] == twin->level[children[i]];
        if (slurm_assoc_is_user(assoc, children[i])) {
            if (!tied) twin->rank = twin->unused;
            twin->factor[children[i]] = (double)twin->rank / assoc->users;
            twin->unused--;
        } else
            twin_walk(twin, children[i], tied);
    }
}

/* Random trees of up to 40 rows with use out of few values, so that ties are common. */
static void like_the_recursion(void **state)
{
    const uint64_t seed = rows_number(state);
    struct slurm_association written[39];
    char name[LIMIT_NAME_BYTES], parent[LIMIT_NAME_BYTES];
    const uint32_t count = any_count(seed, 0, 1, 39);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t above = any_count(seed, 4 * i + 1, 0, i);
        snprintf(name, sizeof name, "a%u", i);
        snprintf(parent, sizeof parent, "a%u", above);
        const bool user = any(seed, 4 * i + 2) < 0.5;
        if (above == i) parent[0] = '\0';
        written[i] = user ? association(parent, "", name, any_count(seed, 4 * i + 3, 0, 3))
                          : association(name, parent, "", any_count(seed, 4 * i + 3, 0, 3));
    }
    const struct slurm_spec spec = { .associations = written, .association_count = count };
    struct jobs jobs = jobs_of_lines(NULL, 0);
    struct slurm_assoc assoc;
    struct slurm_fairtree fair;
    assert_true(slurm_assoc_init(&assoc, &spec, &jobs));
    assert_true(slurm_fairtree_init(&fair, &assoc));
    for (uint32_t row = 0; row < assoc.count; row++)
        if (slurm_assoc_is_user(&assoc, row))
            fair.rows[row].usage = any_count(seed, 1000 + row, 0, 3);
    slurm_fairtree_rank(&fair);
    struct twin twin = {
        .assoc = &assoc, .fair = &fair, .rank = assoc.users, .unused = assoc.users
    };
    assert_in_range(assoc.count, 2, 64);
    twin_usage(&twin, ASSOC_ROOT);
    twin_walk(&twin, ASSOC_ROOT, false);
    for (uint32_t row = 0; row < assoc.count; row++)
        if (slurm_assoc_is_user(&assoc, row))
            CHECK_NEAR(slurm_fairtree_factor(&fair, row), twin.factor[row], 1e-15);
    slurm_fairtree_clear(&fair);
    slurm_assoc_clear(&assoc);
    jobs_free(&jobs);
}

static void no_tree(void **state)
{
    (void)state;
    const struct slurm_assoc empty = { 0 };
    struct slurm_fairtree fair;
    assert_true(slurm_fairtree_init(&fair, &empty));
    slurm_fairtree_update(&fair, NS_PER_DAY, NS_PER_DAY);
    CHECK_NEAR(slurm_fairtree_factor(&fair, ASSOC_NONE), 0, 0);
    slurm_fairtree_clear(&fair);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof captures / sizeof *captures; i++)
        rows_add(&rows, recording_s17, (void *)(uintptr_t)i, "sshare of s17, %s", captures[i].name);
    rows_add(&rows, decay, NULL, "decay");
    rows_add(&rows, running_jobs_are_booked, NULL, "running jobs are booked");
    rows_add(&rows, billing, NULL, "TRESBillingWeights");
    rows_add(&rows, no_tree, NULL, "no associations");
    for (uint64_t seed = 1; seed <= 200; seed++)
        rows_add(&rows, like_the_recursion, (void *)(uintptr_t)seed, "tree %u", (unsigned)seed);
    return rows_run("slurm_fairtree", &rows);
}
