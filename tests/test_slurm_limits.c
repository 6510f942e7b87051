/* test_slurm_limits.c - policy/slurm_limits against recording s28 and hand calculations. */
#include "policy/slurm_limits.h"

#include "base/clock.h"

#include "tests/near.h"
#include "tests/rows.h"
#include "tests/slurm_jobs.h"

#define MINUTE (60 * NS_PER_S)

enum { NORMAL, CAPPED, ONEJOB, SMALL, QOS, NO_QOS = -1 };

static const struct tres_limit none = { LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET };

struct site {
    struct slurm_association written[3];
    struct slurm_qos qos[QOS];
    struct slurm_spec spec;
    struct jobs jobs;
    struct slurm_assoc tree;
    struct slurm_limits limits;
};

/* The site of s28: QOS capped GrpTRES=gres/gpu=8, onejob MaxJobsPerUser=1, small MaxTRESPerJob=gres/gpu=4 with
 * DenyOnLimit; account lab GrpTRES=gres/gpu=20. Job 0 is of root in lab, job 1 of ada in lab. */
static struct site *site_new(void)
{
    static const struct job_line lines[] = { { .id = "0", .account = "lab", .user = "root" },
                                             { .id = "1", .account = "lab", .user = "ada" } };
    static const char *const names[QOS] = { "normal", "capped", "onejob", "small" };
    struct site *site = calloc(1, sizeof *site);
    assert_non_null(site);
    for (uint32_t q = 0; q < QOS; q++) {
        name_set(site->qos[q].name, names[q]);
        site->qos[q].grp = site->qos[q].max_per_job = none;
        site->qos[q].max_per_user = site->qos[q].grp_run_mins = none;
        site->qos[q].grp_jobs = site->qos[q].max_jobs_per_user = LIMIT_UNSET;
    }
    site->qos[CAPPED].grp.gpus = 8;
    site->qos[ONEJOB].max_jobs_per_user = 1;
    site->qos[SMALL].max_per_job.gpus = 4;
    site->qos[ONEJOB].deny_on_limit = site->qos[SMALL].deny_on_limit = true;
    site->written[0] = association("lab", "", "", 1);
    site->written[0].grp.gpus = 20;
    site->written[1] = association("lab", "", "root", 1);
    site->written[2] = association("lab", "", "ada", 1);
    site->spec = (struct slurm_spec){ .associations = site->written,
                                      .association_count = 3,
                                      .qos = site->qos,
                                      .qos_count = QOS,
                                      .enforce_limits = true };
    site->jobs = jobs_of_lines(lines, 2);
    assert_true(slurm_assoc_init(&site->tree, &site->spec, &site->jobs));
    assert_true(slurm_limits_init(&site->limits, &site->spec, &site->tree));
    return site;
}

/* After the test changed written limits. */
static void site_again(struct site *site)
{
    slurm_limits_clear(&site->limits);
    assert_true(slurm_limits_init(&site->limits, &site->spec, &site->tree));
}

static void site_free(struct site *site)
{
    slurm_limits_clear(&site->limits);
    slurm_assoc_clear(&site->tree);
    jobs_free(&site->jobs);
    free(site);
}

static struct slurm_owner owner_of(const struct site *site, uint32_t job, int qos)
{
    return (struct slurm_owner){ .assoc = site->tree.who[job].assoc,
                                 .user = site->tree.who[job].user,
                                 .qos = (uint32_t)qos };
}

static struct slurm_amount gpus(int64_t count, int64_t minutes)
{
    return (struct slurm_amount){
        .of = { [RESOURCE_CPU] = 1, [RESOURCE_NODE] = 1, [RESOURCE_GPU] = count },
        .limit_ns = minutes * MINUTE
    };
}

/* As a scheduler asks: jobs first, then what it would hold. NULL: it started. */
static const char *try_start(struct site *site, uint32_t live, uint32_t job, int qos,
                             struct slurm_amount amount, int64_t now_ns)
{
    const struct slurm_owner owner = owner_of(site, job, qos);
    const char *reason = slurm_limits_jobs(&site->limits, owner);
    if (!reason) reason = slurm_limits_over(&site->limits, owner, &amount, now_ns);
    if (!reason) assert_true(slurm_limits_start(&site->limits, live, owner, &amount, now_ns));
    return reason;
}

static void same(const char *got, const char *want)
{
    CHECK((got == NULL) == (want == NULL) && (!got || strcmp(got, want) == 0), "%s, want %s",
          got ? got : "none", want ? want : "none");
}

/* Jobs of s28 in order, and the reasons first seen 1 s after submission. */
static void recording_s28(void **state)
{
    (void)state;
    struct site *site = site_new();
    enum { A, B, C, D, E, F, G, H, I };
    same(try_start(site, A, 0, CAPPED, gpus(4, 60), 0), NULL);
    same(try_start(site, B, 0, CAPPED, gpus(4, 60), 0), NULL);
    same(try_start(site, C, 0, CAPPED, gpus(2, 60), 0), "QOSGrpGRES");
    same(try_start(site, D, 0, ONEJOB, gpus(1, 60), 0), NULL);
    same(try_start(site, E, 0, ONEJOB, gpus(1, 60), 0), "QOSMaxJobsPerUserLimit");
    const struct slurm_amount f = gpus(8, 60);
    same(slurm_limits_refuse(&site->limits, owner_of(site, 0, SMALL), &f), "QOSMaxGRESPerJob");
    same(try_start(site, G, 0, NORMAL, gpus(8, 60), 0), NULL);
    same(try_start(site, H, 0, NORMAL, gpus(8, 60), 0), "AssocGrpGRES");
    same(try_start(site, I, 0, NORMAL, gpus(3, 60), 0), NULL); /* 4 + 4 + 1 + 8 + 3 = 20 */
    /* i ends at 6 s, d at 9, g at 10, a at 11: e, h and c start as their limits get room. */
    slurm_limits_end(&site->limits, I);
    same(try_start(site, H, 0, NORMAL, gpus(8, 60), 6), "AssocGrpGRES");
    slurm_limits_end(&site->limits, D);
    same(try_start(site, E, 0, ONEJOB, gpus(1, 60), 9), NULL);
    slurm_limits_end(&site->limits, G);
    same(try_start(site, H, 0, NORMAL, gpus(8, 60), 10), NULL);
    same(try_start(site, C, 0, CAPPED, gpus(2, 60), 10), "QOSGrpGRES");
    slurm_limits_end(&site->limits, A);
    same(try_start(site, C, 0, CAPPED, gpus(2, 60), 11), NULL);
    const uint32_t left[] = { B, E, H, C };
    for (uint32_t i = 0; i < 4; i++) slurm_limits_end(&site->limits, left[i]);
    slurm_limits_end(&site->limits, C); /* twice is harmless */
    for (uint32_t row = 0; row < site->tree.count; row++) {
        assert_true(site->limits.assoc_use[row].jobs == 0);
        assert_true(site->limits.assoc_use[row].of[RESOURCE_GPU] == 0);
        assert_true(site->limits.assoc_use[row].ends[RESOURCE_GPU] == 0);
    }
    site_free(site);
}

/* Without AccountingStorageEnforce=limits none of it holds. */
static void not_enforced(void **state)
{
    (void)state;
    struct site *site = site_new();
    site->spec.enforce_limits = false;
    for (uint32_t live = 0; live < 9; live++)
        same(try_start(site, live, 0, CAPPED, gpus(8, 60), 0), NULL);
    const struct slurm_amount f = gpus(8, 60);
    same(slurm_limits_refuse(&site->limits, owner_of(site, 0, SMALL), &f), NULL);
    site_free(site);
}

/* One limit, what runs already, what is asked, and the reason. */
enum place { QOS_GRP, QOS_JOB, QOS_USER, ASSOC_GRP, ASSOC_JOB };
static const struct {
    const char *name;
    enum place place;
    struct tres_limit limit;
    int64_t runs, asks; /* of each resource but GPUs; GPUs never */
    const char *want;
} one_limit[] = {
    { "cpu", QOS_GRP, { LIMIT_UNSET, 10, LIMIT_UNSET, LIMIT_UNSET }, 6, 5, "QOSGrpCpuLimit" },
    { "cpu to the brim", QOS_GRP, { LIMIT_UNSET, 10, LIMIT_UNSET, LIMIT_UNSET }, 6, 4, NULL },
    { "mem", QOS_GRP, { LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET, 10 }, 6, 5, "QOSGrpMemLimit" },
    { "node", QOS_GRP, { LIMIT_UNSET, LIMIT_UNSET, 10, LIMIT_UNSET }, 6, 5, "QOSGrpNodeLimit" },
    { "gpus not asked for", QOS_GRP, { 0, LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET }, 6, 5, NULL },
    { "cpu before mem", QOS_GRP, { LIMIT_UNSET, 3, 3, 3 }, 0, 5, "QOSGrpCpuLimit" },
    { "mem before node", QOS_GRP, { LIMIT_UNSET, 9, 3, 3 }, 0, 5, "QOSGrpMemLimit" },
    { "per job",
      QOS_JOB,
      { LIMIT_UNSET, 4, LIMIT_UNSET, LIMIT_UNSET },
      6,
      5,
      "QOSMaxCpuPerJobLimit" },
    { "per job: what runs is no matter", QOS_JOB, { 9, 5, 5, 5 }, 6, 5, NULL },
    { "per user",
      QOS_USER,
      { LIMIT_UNSET, LIMIT_UNSET, 10, LIMIT_UNSET },
      6,
      5,
      "QOSMaxNodePerUserLimit" },
    { "group", ASSOC_GRP, { LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET, 10 }, 6, 5, "AssocGrpMemLimit" },
    { "job",
      ASSOC_JOB,
      { LIMIT_UNSET, LIMIT_UNSET, 4, LIMIT_UNSET },
      0,
      5,
      "AssocMaxNodePerJobLimit" },
};

static void limits_one_by_one(void **state)
{
    const size_t row = (size_t)rows_number(state);
    struct site *site = site_new();
    struct slurm_qos *qos = &site->qos[NORMAL];
    site->written[0].grp.gpus = LIMIT_UNSET;
    struct tres_limit *at[] = { &qos->grp, &qos->max_per_job, &qos->max_per_user,
                                &site->written[0].grp, &site->written[0].max_per_job };
    *at[one_limit[row].place] = one_limit[row].limit;
    site_again(site);
    const int64_t runs = one_limit[row].runs, asks = one_limit[row].asks;
    const struct slurm_amount running = { .of = { runs, runs, runs, 0 }, .limit_ns = MINUTE };
    const struct slurm_amount asked = { .of = { asks, asks, asks, 0 }, .limit_ns = MINUTE };
    assert_true(slurm_limits_start(&site->limits, 0, owner_of(site, 0, NORMAL), &running, 0));
    same(slurm_limits_over(&site->limits, owner_of(site, 0, NORMAL), &asked, 0),
         one_limit[row].want);
    site_free(site);
}

/* Limits per user hold for one user: ada may do what root may not. */
static void users_are_apart(void **state)
{
    (void)state;
    struct site *site = site_new();
    site->qos[NORMAL].max_per_user.gpus = 4;
    same(try_start(site, 0, 0, NORMAL, gpus(4, 1), 0), NULL);
    same(try_start(site, 1, 0, NORMAL, gpus(1, 1), 0), "QOSMaxGRESPerUser");
    same(try_start(site, 1, 1, NORMAL, gpus(1, 1), 0), NULL);
    same(try_start(site, 2, 0, CAPPED, gpus(1, 1), 0), NULL); /* another QOS */
    same(try_start(site, 3, 1, ONEJOB, gpus(1, 1), 0), NULL);
    same(try_start(site, 4, 1, ONEJOB, gpus(1, 1), 0), "QOSMaxJobsPerUserLimit");
    same(try_start(site, 4, 0, ONEJOB, gpus(1, 1), 0), NULL);
    site_free(site);
}

/* Numbers of jobs: QOS first, then the user's MaxJobs (inherited from lab), then GrpJobs of lab. */
static void numbers_of_jobs(void **state)
{
    (void)state;
    struct site *site = site_new();
    site->qos[CAPPED].grp_jobs = 1;
    site->written[0].max_jobs = 2;
    site->written[0].grp_jobs = 3;
    site_again(site);
    same(try_start(site, 0, 0, CAPPED, gpus(1, 1), 0), NULL);
    same(try_start(site, 1, 1, CAPPED, gpus(1, 1), 0), "QOSGrpJobsLimit");
    same(try_start(site, 1, 0, NORMAL, gpus(1, 1), 0), NULL);
    same(try_start(site, 2, 0, NORMAL, gpus(1, 1), 0), "AssocMaxJobsLimit");
    same(try_start(site, 2, 1, NORMAL, gpus(1, 1), 0), NULL);
    same(try_start(site, 3, 1, NORMAL, gpus(1, 1), 0), "AssocGrpJobsLimit");
    slurm_limits_end(&site->limits, 0);
    same(try_start(site, 3, 1, NORMAL, gpus(1, 1), 0), NULL);
    site_free(site);
}

/* A limit of the QOS takes the place of the account's limit on the same resource: 8 + 16 GPUs run under lab's 20. */
static void qos_takes_the_place(void **state)
{
    (void)state;
    struct site *site = site_new();
    same(try_start(site, 0, 0, NORMAL, gpus(16, 1), 0), NULL);
    same(try_start(site, 1, 0, CAPPED, gpus(8, 1), 0), NULL);
    same(try_start(site, 2, 0, NORMAL, gpus(1, 1), 0), "AssocGrpGRES");
    site_free(site);
}

/* GrpTRESRunMins 1000 GPU minutes: 8 GPUs for 100 min are 800; 4 for 51 more are 204, too many until one minute of
 * the first has passed (800 - 8 + 204 = 996). */
static void run_minutes(void **state)
{
    (void)state;
    struct site *site = site_new();
    site->qos[NORMAL].grp_run_mins.gpus = 1000;
    same(try_start(site, 0, 0, NORMAL, gpus(8, 100), 5 * MINUTE), NULL);
    same(try_start(site, 1, 0, NORMAL, gpus(4, 51), 5 * MINUTE), "QOSGrpGRESRunMinutes");
    same(try_start(site, 1, 0, NORMAL, gpus(4, 50), 5 * MINUTE), NULL);
    slurm_limits_end(&site->limits, 1);
    same(try_start(site, 1, 0, NORMAL, gpus(4, 51), 6 * MINUTE), NULL);
    slurm_limits_end(&site->limits, 0);
    slurm_limits_end(&site->limits, 1);
    assert_true(site->limits.qos_use[NORMAL].ends[RESOURCE_GPU] == 0);
    site_free(site);
}

/* Only the QOS decides whether a limit refuses; then limits of the account refuse too, and only a job that is alone
 * over them. */
static void refusal(void **state)
{
    (void)state;
    struct site *site = site_new();
    const struct slurm_amount big = gpus(21, 1), fits = gpus(20, 1);
    same(slurm_limits_refuse(&site->limits, owner_of(site, 0, NORMAL), &big), NULL);
    same(slurm_limits_refuse(&site->limits, owner_of(site, 0, NO_QOS), &big), NULL);
    same(slurm_limits_refuse(&site->limits, owner_of(site, 0, ONEJOB), &big), "AssocGrpGRES");
    same(try_start(site, 0, 0, NORMAL, fits, 0), NULL);
    same(slurm_limits_refuse(&site->limits, owner_of(site, 0, ONEJOB), &fits), NULL);
    same(try_start(site, 1, 0, NO_QOS, gpus(1, 1), 0), "AssocGrpGRES");
    site_free(site);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, recording_s28, NULL, "recording s28");
    rows_add(&rows, not_enforced, NULL, "limits that are not enforced");
    for (size_t i = 0; i < sizeof one_limit / sizeof *one_limit; i++)
        rows_add(&rows, limits_one_by_one, (void *)(uintptr_t)i, "limit: %s", one_limit[i].name);
    rows_add(&rows, users_are_apart, NULL, "users are apart");
    rows_add(&rows, numbers_of_jobs, NULL, "numbers of jobs");
    rows_add(&rows, qos_takes_the_place, NULL, "the QOS takes the place of the account");
    rows_add(&rows, run_minutes, NULL, "GrpTRESRunMins");
    rows_add(&rows, refusal, NULL, "DenyOnLimit");
    return rows_run("slurm_limits", &rows);
}
