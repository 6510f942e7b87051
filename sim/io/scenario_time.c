/* scenario_time.c - defaults that follow from other keys: warm-up, follow-up, resampling, policy; and
 * how many replicas are enough. */
#include "io/scenario_parts.h"

#include "base/clock.h"
#include "base/quantity.h"

static bool has_jobs(const struct reading *reading)
{
    const struct yaml_node *jobs = yaml_child(reading->document.root, "jobs");
    return jobs != NULL && !yaml_is_null(jobs);
}

void read_horizon(struct key_reader *reader, const struct key_found *found)
{
    (void)found;
    const bool all = has_jobs(reading_of(reader));
    reading_of(reader)->scenario->horizon_ns = all ? HORIZON_ALL : 30 * NS_PER_DAY;
    key_show(reader, "horizon", all ? "all" : "30d", NULL,
             all ? "default: a list of jobs is played once" : "default");
}

/* Slurm ends jobs at their limit. Durations of a log are cut there already. */
void read_kill_at_limit(struct key_reader *reader, const struct key_found *found)
{
    (void)found;
    const bool kill = has_jobs(reading_of(reader)) && reader->kinds == 1u << KIND_SLURM;
    reading_of(reader)->scenario->kill_at_limit = kill;
    key_show(reader, "kill_at_limit", kill ? "true" : "false", NULL,
             kill ? "default: Slurm ends jobs at their limit" : "default");
}

void read_warmup(struct key_reader *reader, const struct key_found *found)
{
    (void)found;
    struct scenario *scenario = reading_of(reader)->scenario;
    const bool all = scenario->horizon_ns == HORIZON_ALL || has_jobs(reading_of(reader));
    scenario->warmup_ns = all ? 0 : WARMUP_AUTO;
    key_show(reader, "warmup", all ? "0s" : "auto", NULL, "default");
}

void read_follow(struct key_reader *reader, const struct key_found *found)
{
    (void)found;
    struct scenario *scenario = reading_of(reader)->scenario;
    char shown[SHOW_BYTES];
    const bool all = scenario->horizon_ns == HORIZON_ALL;
    scenario->follow_ns = all ? 0 : scenario->horizon_ns / 2;
    key_show(reader, "follow", show_duration(scenario->follow_ns, shown), NULL,
             all ? "default: the horizon is all" : "default: 50% of the horizon");
}

void read_resample(struct key_reader *reader, const struct key_found *found)
{
    (void)found;
    struct scenario *scenario = reading_of(reader)->scenario;
    const bool all = scenario->horizon_ns == HORIZON_ALL || has_jobs(reading_of(reader));
    scenario->resample = all ? RESAMPLE_NONE : RESAMPLE_DAYS;
    key_show(reader, "resample", all ? "none" : "days", NULL, "default");
}

void read_until(struct key_reader *reader, const struct key_found *found)
{
    struct scenario *scenario = reading_of(reader)->scenario;
    scenario->until.given = found->node != NULL;
    if (found->node == NULL) {
        key_show(reader, "until", "none", NULL, "default: the number is given");
        return;
    }
    if (found->node->kind != YAML_MAP) {
        key_wrong_kind(reader, "until", found->node, "{metric: yield, half_width: 1%, max: 200}");
        return;
    }
    const size_t length = key_enter(reader, "until.");
    keys_read(reader, "replicas.until.", found->node, NULL, scenario);
    key_leave(reader, length);
}

void read_policy(struct key_reader *reader, const struct key_found *found)
{
    struct scenario *scenario = reading_of(reader)->scenario;
    const bool fixed = found->map != NULL && yaml_child(found->map, "interval") != NULL;
    scenario->checkpoint.policy = fixed ? CHECKPOINT_FIXED : CHECKPOINT_NONE;
    key_show(reader, "policy", fixed ? "fixed" : "none", NULL,
             fixed ? "default: an interval is given" : "default");
}
