/* oracle_kubernetes.c - runs every example of the yaml files in FOLDER: filter and scores, preemption, Kueue's topology,
 * preferred GPUs, MIG.
 *
 * What an example is about shows in its words, not in the file's name. One line an example; last line: N passed,
 * N failed. Exit 1 when any failed, 2 when the folder holds no example. */
#include "models/gpu_group.h"
#include "models/mig.h"
#include "policy/kube_preempt.h"
#include "policy/kube_topology.h"
#include "tests/kube_yaml.h"

#include <glob.h>
#include <stdarg.h>

enum { ROWS_MOST = 512 }; /* nodes of an example, pods of a node */

/* What is wrong with the example at hand; empty = right. */
static char problem[4096];

__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...)
{
    const size_t used = strlen(problem);
    va_list args;
    va_start(args, format);
    vsnprintf(problem + used, sizeof problem - used, format, args);
    va_end(args);
}

static bool list_has(const struct yaml_node *list, const char *text)
{
    for (const struct yaml_node *item = list ? list->first : NULL; item; item = item->next)
        if (item->text && !strcmp(item->text, text)) return true;
    return false;
}

static bool is_nothing(const struct yaml_node *node)
{
    return !node || yaml_is_null(node) ||
           (node->kind == YAML_SCALAR && !strncmp(node->text, "none", 4)) ||
           (node->kind != YAML_SCALAR && node->child_count == 0);
}

/* --- filter and score ---------------------------------------------------------------------------- */

struct scored {
    const char *name;
    struct kube_room room;
    struct kube_facts facts;
    struct kube_verdict verdict;
    struct kube_points points;
    int64_t total;
};

static struct kube_scoring read_profile(const struct yaml_node *profile, struct kube_names *names)
{
    struct kube_scoring scoring = { .weights = { 1, 1, 3, 2 } };
    const struct yaml_node *fit = yaml_child(profile, "fit");
    const char *type = child_text(fit, "type", "LeastAllocated");
    if (!strcmp(type, "MostAllocated")) scoring.fit.strategy = FIT_MOST_ALLOCATED;
    if (!strcmp(type, "RequestedToCapacityRatio")) scoring.fit.strategy = FIT_REQUESTED_TO_CAPACITY;
    const struct kube_amounts weights = read_amounts(yaml_child(fit, "resources"), names);
    for (uint32_t r = 0; r < KUBE_AMOUNTS; r++) scoring.fit.weight[r] = weights.of[r];
    const struct yaml_node *shape = yaml_child(fit, "shape");
    for (const struct yaml_node *p = shape ? shape->first : NULL; p; p = p->next) {
        int64_t utilization = child_integer(p, "utilization", 0),
                score = child_integer(p, "score", 0);
        if (p->kind == YAML_LIST && p->child_count == 2) {
            node_integer(p->first, &utilization);
            node_integer(p->first->next, &score);
        }
        scoring.fit.shape[scoring.fit.shape_count].utilization = utilization;
        scoring.fit.shape[scoring.fit.shape_count++].points = 10 * score;
    }
    const struct yaml_node *balanced = yaml_child(profile, "balanced");
    if (balanced) {
        const struct yaml_node *list = yaml_child(balanced, "resources");
        for (const struct yaml_node *one = list ? list->first : NULL; one; one = one->next)
            scoring.balanced |= 1u << resource_of(names, one->key ? one->key : one->text);
        if (!strcmp(child_text(balanced, "version", "absolute"), "delta"))
            scoring.version = BALANCED_DELTA;
    }
    const struct yaml_node *weight = yaml_child(profile, "weights");
    if (weight)
        scoring.weights =
            (struct kube_weights){ child_integer(weight, "NodeResourcesFit", 0),
                                   child_integer(weight, "NodeResourcesBalancedAllocation", 0),
                                   child_integer(weight, "TaintToleration", 0),
                                   child_integer(weight, "NodeAffinity", 0) };
    return scoring;
}

static uint32_t read_nodes(const struct yaml_node *example, struct kube_names *names,
                           struct scored *nodes)
{
    uint32_t count = 0;
    const struct yaml_node *list = yaml_child(example, "nodes");
    for (const struct yaml_node *node = list->first; node && count < ROWS_MOST; node = node->next) {
        struct scored *scored = &nodes[count++];
        *scored =
            (struct scored){ .name = child_text(node, "name", "?"), .facts = read_facts(node) };
        scored->room.allocatable = read_allocatable(yaml_child(node, "allocatable"), names);
        const struct yaml_node *pods = yaml_child(node, "pods");
        for (const struct yaml_node *pod = pods ? pods->first : NULL; pod; pod = pod->next) {
            const struct kube_amounts request = read_request(pod, names);
            const struct kube_amounts counted = kube_counted(&request);
            for (uint32_t r = 0; r < KUBE_AMOUNTS; r++) {
                scored->room.used.of[r] += request.of[r];
                scored->room.counted.of[r] += counted.of[r];
            }
        }
    }
    return count;
}

/* "insufficient gpu", as the example words it: cpu_m and cpu are the same. */
static bool reason_is(const char *want, const char *prefix, const char *key)
{
    const size_t bytes = strlen(prefix);
    if (strncmp(want, prefix, bytes) != 0) return false;
    const char *rest = want + bytes;
    return !strcmp(rest, key) || (!strcmp(key, "cpu") && !strcmp(rest, "cpu_m"));
}

static void check_reasons(const struct scored *node, const struct kube_names *names,
                          const struct yaml_node *want)
{
    uint32_t found = 0, expected = 0;
    const struct kube_verdict *verdict = &node->verdict;
    for (const struct yaml_node *one = want ? want->first : NULL; one; one = one->next) {
        const char *text = one->text;
        bool right = false;
        if (verdict->why == REJECT_CORDONED) right = !strcmp(text, "unschedulable");
        if (verdict->why == REJECT_TAINT)
            right = reason_is(text, "untolerated taint ", verdict->key);
        if (verdict->why == REJECT_SELECTOR)
            right = reason_is(text, "node selector ", verdict->key);
        if (verdict->why == REJECT_AFFINITY)
            right = !strncmp(text, "node affinity", 13) || !strncmp(text, "node selector", 13);
        for (uint32_t r = 0; verdict->why == REJECT_RESOURCE && r < KUBE_AMOUNTS; r++)
            right |= (verdict->short_amounts >> r & 1) &&
                     reason_is(text, "insufficient ", resource_name(names, r));
        found += right;
        expected++;
    }
    uint32_t reasons = 1;
    if (verdict->why == REJECT_RESOURCE)
        reasons = (uint32_t)__builtin_popcount(verdict->short_amounts);
    if (found != expected || found != reasons)
        wrong(" %s: rejected for reason %d (%s), amounts %#x;", node->name, verdict->why,
              verdict->key ? verdict->key : "-", verdict->short_amounts);
}

static void check_feasible(const struct scored *nodes, uint32_t count,
                           const struct kube_names *names, const struct yaml_node *expected)
{
    for (uint32_t i = 0; i < count; i++) {
        const bool feasible = nodes[i].verdict.why == REJECT_NONE;
        if (feasible != list_has(yaml_child(expected, "feasible"), nodes[i].name))
            wrong(" %s is %sfeasible;", nodes[i].name, feasible ? "" : "not ");
        const struct yaml_node *rejected = yaml_child(expected, "rejected");
        if (!feasible && rejected)
            check_reasons(&nodes[i], names, yaml_child(rejected, nodes[i].name));
    }
}

static void check_scores(const struct scored *nodes, uint32_t count,
                         const struct yaml_node *expected)
{
    const struct yaml_node *scores = yaml_child(expected, "scores");
    for (uint32_t i = 0; i < count; i++) {
        const struct yaml_node *want =
            scores && scores->kind == YAML_MAP ? yaml_child(scores, nodes[i].name) : NULL;
        if (!want) continue;
        const struct kube_points *points = &nodes[i].points;
        const struct {
            const char *plugin;
            int64_t got;
        } rows[] = { { "NodeResourcesFit", points->fit },
                     { "NodeResourcesBalancedAllocation", points->balanced },
                     { "TaintToleration", points->taint },
                     { "NodeAffinity", points->affinity },
                     { "total", nodes[i].total } };
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            const int64_t right = child_integer(want, rows[k].plugin, rows[k].got);
            if (right != rows[k].got)
                wrong(" %s %s: %" PRId64 ", want %" PRId64 ";", nodes[i].name, rows[k].plugin,
                      rows[k].got, right);
        }
    }
}

/* The nodes with the highest total must be the expected one, or all of any_of. */
static void check_chosen(const struct scored *nodes, uint32_t count, const struct yaml_node *want)
{
    int64_t best = INT64_MIN;
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i].verdict.why == REJECT_NONE && nodes[i].total > best) best = nodes[i].total;
    const struct yaml_node *any =
        want && want->kind == YAML_MAP ? yaml_child(want, "any_of") : NULL;
    if (best == INT64_MIN && !is_nothing(want)) wrong(" no node is chosen;");
    for (uint32_t i = 0; i < count; i++) {
        const bool chosen = nodes[i].verdict.why == REJECT_NONE && nodes[i].total == best;
        const bool right = any ? list_has(any, nodes[i].name)
                               : !is_nothing(want) && want->kind == YAML_SCALAR &&
                                     !strcmp(want->text, nodes[i].name);
        if (chosen != right) wrong(" %s is %schosen;", nodes[i].name, chosen ? "" : "not ");
    }
}

static void try_scoring(const struct yaml_node *example)
{
    static struct scored nodes[ROWS_MOST];
    struct kube_names names = { .count = 0 };
    const struct yaml_node *pod = yaml_child(example, "pod");
    const struct kube_scoring scoring = read_profile(yaml_child(example, "profile"), &names);
    const struct kube_wish wish = read_wish(pod);
    const struct kube_amounts request = read_request(pod, &names);
    const uint32_t count = read_nodes(example, &names, nodes);
    struct kube_points most = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        struct scored *node = &nodes[i];
        node->verdict =
            kube_filter(&node->facts, &wish, &node->room.allocatable, &node->room.used, &request);
        node->points = kube_raw_points(&scoring, &node->room, &node->facts, &wish, &request);
        if (node->verdict.why != REJECT_NONE) continue;
        if (node->points.taint > most.taint) most.taint = node->points.taint;
        if (node->points.affinity > most.affinity) most.affinity = node->points.affinity;
    }
    for (uint32_t i = 0; i < count; i++) {
        nodes[i].points = kube_scaled_points(nodes[i].points, most);
        nodes[i].total = kube_total(&scoring.weights, &nodes[i].points);
    }
    const struct yaml_node *expected = yaml_child(example, "expected");
    check_feasible(nodes, count, &names, expected);
    check_scores(nodes, count, expected);
    check_chosen(nodes, count, yaml_child(expected, "chosen"));
}

#include "tests/oracle_kubernetes_parts.h"

static void try_example(const struct yaml_node *root, const struct yaml_node *example)
{
    if (!yaml_child(example, "expected") && !yaml_child(example, "fits"))
        wrong(" it says nothing that could be compared;");
    else if (yaml_child(example, "tree"))
        try_topology(example);
    else if (yaml_child(example, "box"))
        try_preferred(root, example);
    else if (yaml_child(example, "want"))
        try_mig(root, example);
    else if (yaml_child(example, "profile"))
        try_scoring(example);
    else if (yaml_child(example, "nodes"))
        try_preemption(example);
    else
        wrong(" no runner for what it asks;");
}

static void run_file(const char *path, unsigned counts[2])
{
    struct yaml_document document = { 0 };
    struct diag *diag = diag_create();
    const char *name = strrchr(path, '/') + 1;
    if (yaml_read_file(path, &document, diag) != STATUS_OK || !document.root) {
        diag_print(diag, stdout);
        printf("FAILED %s\n", name);
        counts[1]++;
    } else {
        const struct yaml_node *list = yaml_child(document.root, "examples");
        for (const struct yaml_node *one = list ? list->first : NULL; one; one = one->next) {
            problem[0] = 0;
            try_example(document.root, one);
            printf("%s %s %s%s%s\n", problem[0] ? "FAILED" : "ok    ", name,
                   child_text(one, "id", "?"), problem[0] ? ":" : "", problem);
            counts[problem[0] != 0]++;
        }
    }
    yaml_clear(&document);
    diag_destroy(diag);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: oracle_kubernetes FOLDER\n");
        return 2;
    }
    char pattern[4096];
    snprintf(pattern, sizeof pattern, "%s/*.yaml", argv[1]);
    glob_t files;
    if (glob(pattern, 0, NULL, &files) != 0) {
        fprintf(stderr, "%s: no *.yaml there\n", argv[1]);
        return 2;
    }
    unsigned counts[2] = { 0, 0 };
    for (size_t i = 0; i < files.gl_pathc; i++) run_file(files.gl_pathv[i], counts);
    globfree(&files);
    printf("%u passed, %u failed\n", counts[0], counts[1]);
    return counts[1] ? 1 : counts[0] ? 0 : 2;
}
