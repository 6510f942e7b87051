/* kube_quota.c - see kube_quota.h. */
#include "policy/kube_quota.h"

#include "base/assert.h"
#include "base/sort.h"

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* What the queue lends of a resource at most. */
static int64_t lendable(const struct kube_account *account, int resource)
{
    const int64_t nominal = account->nominal.of[resource];
    if (resource != KUBE_GPU || account->lending_gpus > nominal) return nominal;
    return account->lending_gpus;
}

/* What the queue may use in all: its own and what the others of its cohort lend, up to its limit. */
static int64_t most_of(const struct kube_account *accounts, uint32_t count, uint32_t queue,
                       int resource)
{
    const struct kube_account *own = &accounts[queue];
    int64_t most = own->nominal.of[resource];
    if (own->cohort == KUBE_NO_COHORT || most == INT64_MAX) return most;
    for (uint32_t q = 0; q < count; q++)
        if (q != queue && accounts[q].cohort == own->cohort)
            most = plus(most, lendable(&accounts[q], resource));
    if (resource != KUBE_GPU) return most;
    const int64_t limit = plus(own->nominal.of[resource], own->borrowing_gpus);
    return limit < most ? limit : most;
}

/* What is left of the cohort for this queue: its own quota and what others lend, less what is in use of both. */
static int64_t cohort_left(const struct kube_account *accounts, uint32_t count, uint32_t queue,
                           int resource)
{
    const struct kube_account *own = &accounts[queue];
    int64_t quota = own->nominal.of[resource], used = own->used.of[resource];
    for (uint32_t q = 0; q < count; q++) {
        if (q == queue || accounts[q].cohort != own->cohort) continue;
        const int64_t lent = lendable(&accounts[q], resource);
        const int64_t kept = accounts[q].nominal.of[resource] - lent;
        quota = plus(quota, lent);
        if (accounts[q].used.of[resource] > kept) used += accounts[q].used.of[resource] - kept;
    }
    return quota == INT64_MAX ? INT64_MAX : quota - used;
}

enum kube_fit_mode kube_quota_fit(const struct kube_account *accounts, uint32_t count,
                                  uint32_t queue, const struct kube_bill *bill)
{
    const struct kube_account *own = &accounts[queue];
    enum kube_fit_mode mode = QUOTA_FITS;
    for (int r = 0; r < KUBE_RESOURCES; r++) {
        if (bill->of[r] == 0 || own->nominal.of[r] == INT64_MAX) continue;
        const int64_t wanted = own->used.of[r] + bill->of[r];
        if (wanted > own->nominal.of[r]) {
            mode = QUOTA_BORROWS;
            if (own->cohort == KUBE_NO_COHORT) return QUOTA_EXCEEDED;
            if (r == KUBE_GPU && wanted > plus(own->nominal.of[r], own->borrowing_gpus))
                return QUOTA_EXCEEDED;
        }
        if (own->cohort != KUBE_NO_COHORT && bill->of[r] > cohort_left(accounts, count, queue, r))
            return QUOTA_EXCEEDED;
    }
    return mode;
}

bool kube_quota_ever(const struct kube_account *accounts, uint32_t count, uint32_t queue,
                     const struct kube_bill *bill)
{
    for (int r = 0; r < KUBE_RESOURCES; r++)
        if (bill->of[r] > most_of(accounts, count, queue, r)) return false;
    return true;
}

void kube_quota_change(struct kube_account *account, const struct kube_bill *bill, int sign)
{
    for (int r = 0; r < KUBE_RESOURCES; r++) account->used.of[r] += sign * bill->of[r];
}

/* ---- preemption ------------------------------------------------------------------------------ */

/* The queue uses more of some resource of the bill than is its own. */
static bool is_borrowing(const struct kube_account *account, const struct kube_bill *bill)
{
    for (int r = 0; r < KUBE_RESOURCES; r++)
        if (bill->of[r] > 0 && account->used.of[r] > account->nominal.of[r]) return true;
    return false;
}

static bool rule_allows(enum kueue_preempt rule, const struct kube_asking *asking,
                        const struct kube_admitted *job)
{
    if (rule == KUEUE_NEVER) return false;
    if (rule == KUEUE_ANY || job->priority < asking->priority) return true;
    return rule == KUEUE_LOWER_OR_NEWER_EQUAL && job->priority == asking->priority &&
           job->submit_ns > asking->submit_ns;
}

/* Whether a job uses anything that the asking one wants. */
static bool helps(const struct kube_bill *job, const struct kube_bill *wanted)
{
    for (int r = 0; r < KUBE_RESOURCES; r++)
        if (job->of[r] > 0 && wanted->of[r] > 0) return true;
    return false;
}

static bool is_candidate(const struct kube_account *accounts, const struct kube_asking *asking,
                         const struct kube_admitted *job)
{
    const struct kube_account *own = &accounts[asking->queue], *other = &accounts[job->queue];
    if (!helps(&job->bill, &asking->bill)) return false;
    if (job->queue == asking->queue) return rule_allows(own->within, asking, job);
    return own->cohort != KUBE_NO_COHORT && other->cohort == own->cohort &&
           is_borrowing(other, &asking->bill) && rule_allows(own->reclaim, asking, job);
}

/* Candidates in order; returns how many, and in *own how many are of the asking queue. */
static uint32_t order_candidates(const struct kube_account *accounts,
                                 const struct kube_asking *asking, const struct kube_admitted *jobs,
                                 uint32_t count, uint32_t *order, uint32_t *spare, uint64_t *key,
                                 uint32_t *own)
{
    uint32_t found = 0;
    *own = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_candidate(accounts, asking, &jobs[i])) continue;
        order[found++] = i;
        *own += jobs[i].queue == asking->queue;
        key[i] = UINT64_MAX - jobs[i].admitted_no;
    }
    sort_rows(order, spare, found, key);
    for (uint32_t i = 0; i < found; i++) {
        const struct kube_admitted *job = &jobs[order[i]];
        key[order[i]] = (uint64_t)(job->queue == asking->queue) << 40 |
                        (uint64_t)((int64_t)job->priority - INT32_MIN);
    }
    sort_rows(order, spare, found, key);
    return found;
}

struct search {
    struct kube_account *accounts;
    uint32_t account_count;
    const struct kube_asking *asking;
    const struct kube_admitted *jobs;
    bool may_borrow, only_own;
    bool below_priority; /* of other queues only those below the asking one's priority           */
};

static bool fits(const struct search *search)
{
    const enum kube_fit_mode mode = kube_quota_fit(search->accounts, search->account_count,
                                                   search->asking->queue, &search->asking->bill);
    return mode == QUOTA_FITS || (mode == QUOTA_BORROWS && search->may_borrow);
}

static void change(const struct search *search, uint32_t row, int sign)
{
    const struct kube_admitted *job = &search->jobs[row];
    kube_quota_change(&search->accounts[job->queue], &job->bill, sign);
}

/* Takes candidates away until it fits, then gives back what was not needed. */
static uint32_t minimal_targets(const struct search *search, const uint32_t *order, uint32_t found,
                                uint32_t *targets)
{
    const struct kube_asking *asking = search->asking;
    uint32_t count = 0;
    bool enough = false;
    for (uint32_t i = 0; i < found && !enough; i++) {
        const struct kube_admitted *job = &search->jobs[order[i]];
        const bool other = job->queue != asking->queue;
        if (other &&
            (search->only_own || (search->below_priority && job->priority >= asking->priority) ||
             !is_borrowing(&search->accounts[job->queue], &asking->bill)))
            continue;
        change(search, order[i], -1);
        targets[count++] = order[i];
        enough = fits(search);
    }
    for (uint32_t i = enough && count > 1 ? count - 1 : 0; i-- > 0;) {
        change(search, targets[i], +1);
        if (fits(search)) {
            targets[i] = targets[--count]; /* not needed; its place goes to the last */
            continue;
        }
        change(search, targets[i], -1);
    }
    for (uint32_t i = 0; i < count; i++) change(search, targets[i], +1);
    return enough ? count : 0;
}

/* All that it asks for is within its own quota, whoever uses it now. */
static bool is_under_nominal(const struct kube_account *own, const struct kube_bill *bill)
{
    for (int r = 0; r < KUBE_RESOURCES; r++)
        if (bill->of[r] > 0 && own->nominal.of[r] != INT64_MAX &&
            own->used.of[r] + bill->of[r] > own->nominal.of[r])
            return false;
    return true;
}

uint32_t kube_quota_targets(struct kube_account *accounts, uint32_t account_count,
                            const struct kube_asking *asking, const struct kube_admitted *jobs,
                            uint32_t count, uint32_t *targets, uint32_t *order, uint32_t *spare,
                            uint64_t *key)
{
    uint32_t own;
    const uint32_t found = order_candidates(accounts, asking, jobs, count, order, spare, key, &own);
    struct search search = { accounts, account_count, asking, jobs, true, own == found, false };
    if (found == 0) return 0;
    if (own == found) return minimal_targets(&search, order, found, targets);
    const bool under = is_under_nominal(&accounts[asking->queue], &asking->bill);
    if (accounts[asking->queue].borrow_within != KUEUE_NEVER) {
        search.below_priority = !under;
        return minimal_targets(&search, order, found, targets);
    }
    search.may_borrow = false;
    uint32_t chosen = under ? minimal_targets(&search, order, found, targets) : 0;
    if (chosen) return chosen;
    search.may_borrow = search.only_own = true;
    return minimal_targets(&search, order, found, targets);
}
