/* oracle_kubernetes_parts.h - the examples of oracle_kubernetes.c that are not about scores. */
#ifndef GPUPLAN_TESTS_ORACLE_KUBERNETES_PARTS_H
#define GPUPLAN_TESTS_ORACLE_KUBERNETES_PARTS_H

/* --- preemption ---------------------------------------------------------------------------------- */

/* Disruption budgets: a list of {name, disruptionsAllowed or allowed, pods: [names]}; a pod may name its own. */
struct budgets {
    const struct yaml_node *rows[32];
    int32_t allowed[32];
    uint32_t count;
};

static struct budgets read_budgets(const struct yaml_node *example)
{
    static const char *const words[] = { "budgets", "pdbs", "pdb", "disruption_budgets", NULL };
    struct budgets budgets = { .count = 0 };
    for (int i = 0; words[i]; i++) {
        const struct yaml_node *list = yaml_child(example, words[i]);
        for (const struct yaml_node *one = list ? list->first : NULL; one && budgets.count < 32;
             one = one->next) {
            int64_t allowed = child_integer(one, "allowed", child_integer(one, "disruptionsAllowed", 0));
            allowed = child_integer(one, "disruptions_allowed", allowed);
            node_integer(one, &allowed); /* {name: allowed} */
            budgets.allowed[budgets.count] = (int32_t)allowed;
            budgets.rows[budgets.count++] = one;
        }
    }
    return budgets;
}

static uint32_t budget_of(const struct budgets *budgets, const struct yaml_node *pod)
{
    const char *own = child_text(pod, "budget", child_text(pod, "pdb", NULL));
    for (uint32_t b = 0; b < budgets->count; b++) {
        const struct yaml_node *row = budgets->rows[b];
        const char *name = row->key ? row->key : child_text(row, "name", "");
        if (own && !strcmp(own, name)) return b;
        if (row->kind == YAML_MAP && list_has(yaml_child(row, "pods"), child_text(pod, "name", "")))
            return b;
    }
    return KUBE_NO_BUDGET;
}

struct victims {
    const char *node;
    struct kube_loss loss;
    const char *names[ROWS_MOST]; /* by importance */
};

static struct victims victims_of(const struct yaml_node *node, const struct budgets *budgets,
                                 const struct kube_amounts *request, int32_t priority,
                                 struct kube_names *names)
{
    static struct kube_running pods[ROWS_MOST];
    static const char *pod_names[ROWS_MOST];
    static uint32_t rows[ROWS_MOST], spare[3 * ROWS_MOST];
    struct victims victims = { .node = child_text(node, "name", "?") };
    const struct yaml_node *inner = yaml_child(node, "allocatable");
    const struct kube_amounts allocatable = read_allocatable(inner ? inner : node, names);
    uint32_t count = 0;
    const struct yaml_node *list = yaml_child(node, "pods");
    for (const struct yaml_node *pod = list ? list->first : NULL; pod && count < ROWS_MOST;
         pod = pod->next) {
        pod_names[count] = child_text(pod, "name", "?");
        pods[count++] = (struct kube_running){
            .request = read_request(pod, names),
            .start_ns = 1000000000 * child_integer(pod, "start_s", 0),
            .priority = (int32_t)child_integer(pod, "priority", 0),
            .budget = budget_of(budgets, pod),
        };
    }
    victims.loss = kube_victims(&allocatable, NULL, pods, count, request, priority, budgets->allowed, rows,
                                spare);
    for (uint32_t i = 0; i < victims.loss.victim_count; i++) victims.names[i] = pod_names[rows[i]];
    return victims;
}

static void check_victims(const struct victims *victims, const struct yaml_node *want,
                          const char *what)
{
    uint32_t i = 0;
    for (const struct yaml_node *one = want ? want->first : NULL; one; one = one->next, i++)
        if (i >= victims->loss.victim_count || strcmp(one->text, victims->names[i]) != 0)
            wrong(" %s of %s: %s is wanted at place %u;", what, victims->node, one->text, i + 1);
    if (i != victims->loss.victim_count)
        wrong(" %s of %s: %u, want %u;", what, victims->node, victims->loss.victim_count, i);
}

static void try_preemption(const struct yaml_node *example)
{
    static struct victims nodes[ROWS_MOST];
    struct kube_names names = { .count = 0 };
    const struct yaml_node *pod = yaml_child(example, "pod"), *expected = yaml_child(example, "expected");
    const struct budgets budgets = read_budgets(example);
    const struct kube_amounts request = read_request(pod, &names);
    const struct kube_wish wish = read_wish(pod);
    const bool never = !strcmp(child_text(pod, "preemptionPolicy", ""), "Never");
    const struct yaml_node *candidates = yaml_child(expected, "candidates");
    const struct victims *best = NULL;
    uint32_t count = 0;
    const struct yaml_node *list = yaml_child(example, "nodes");
    for (const struct yaml_node *node = list->first; node && count < ROWS_MOST; node = node->next) {
        struct victims *victims = &nodes[count++];
        *victims = victims_of(node, &budgets, &request, (int32_t)child_integer(pod, "priority", 0),
                              &names);
        const struct kube_facts facts = read_facts(node);
        if (never || kube_filter_facts(&facts, &wish).why != REJECT_NONE)
            victims->loss = (struct kube_loss){ 0 };
        const struct yaml_node *want = candidates && candidates->kind == YAML_MAP
                                           ? yaml_child(candidates, victims->node)
                                           : NULL;
        if (candidates && (want != NULL && !yaml_is_null(want)) != victims->loss.possible)
            wrong(" %s is %sa candidate;", victims->node, victims->loss.possible ? "" : "not ");
        else if (want)
            check_victims(victims, want, "victims");
        if (victims->loss.possible && (!best || kube_loss_is_less(&victims->loss, &best->loss)))
            best = victims;
    }
    const struct yaml_node *nominated = yaml_child(expected, "nominated_node");
    if (!best != is_nothing(nominated))
        wrong(" %s is nominated;", best ? best->node : "no node");
    else if (best && strcmp(best->node, nominated->text) != 0)
        wrong(" %s is nominated, want %s;", best->node, nominated->text);
    if (best) check_victims(best, yaml_child(expected, "victims"), "chosen victims");
}

/* --- Kueue's topology ---------------------------------------------------------------------------- */

enum { DOMAINS_MOST = 4096 };
struct oracle_tree {
    struct topology_tree tree;
    uint32_t parent[TOPOLOGY_LEVELS][DOMAINS_MOST], places[TOPOLOGY_LEVELS][DOMAINS_MOST];
    char host[DOMAINS_MOST][160]; /* path of names */
};

static int by_key(const void *a, const void *b)
{
    const struct yaml_node *const *one = a, *const *other = b;
    return strcmp((*one)->key, (*other)->key);
}

/* Children in the order of their names, so that numbers are in the order of names. */
static void read_tree(struct oracle_tree *out, const struct yaml_node *map, uint32_t level,
                      uint32_t parent, const char *path)
{
    const struct yaml_node **children = take_rows(map, map->child_count, sizeof *children);
    size_t count = 0;
    for (const struct yaml_node *child = map->first; child; child = child->next)
        children[count++] = child;
    qsort(children, count, sizeof *children, by_key);
    if (level + 1 > out->tree.level_count) out->tree.level_count = level + 1;
    for (size_t i = 0; i < count; i++) {
        const uint32_t row = out->tree.domains[level]++;
        if (row >= DOMAINS_MOST || level + 1 >= TOPOLOGY_LEVELS) abort();
        out->parent[level][row] = parent;
        char name[160];
        snprintf(name, sizeof name, "%.70s%s%.70s", path, *path ? "/" : "", children[i]->key);
        int64_t places;
        if (children[i]->kind == YAML_MAP)
            read_tree(out, children[i], level + 1, row, name);
        else if (node_integer(children[i], &places)) {
            out->places[level][row] = (uint32_t)places;
            memcpy(out->host[row], name, sizeof name);
        }
    }
}

static uint32_t level_of(const struct yaml_node *example, const struct topology_tree *tree)
{
    static const char *const words[] = { "block", "rack", "host" };
    const char *level = child_text(example, "level", "host");
    const struct yaml_node *list = yaml_child(example, "levels");
    uint32_t row = 0;
    for (const struct yaml_node *one = list ? list->first : NULL; one; one = one->next, row++)
        if (!strcmp(one->text, level)) return row;
    for (row = 0; row < 3; row++)
        if (!strcmp(words[row], level) && row + tree->level_count >= 3)
            return row + tree->level_count - 3;
    return tree->level_count - 1;
}

static void try_topology(const struct yaml_node *example)
{
    static struct oracle_tree out;
    static uint32_t rows[DOMAINS_MOST], chosen[DOMAINS_MOST], spare[DOMAINS_MOST], got[DOMAINS_MOST];
    static uint64_t key[DOMAINS_MOST];
    memset(&out, 0, sizeof out);
    struct topology_tree *tree = &out.tree;
    read_tree(&out, yaml_child(example, "tree"), 0, 0, "");
    for (uint32_t level = 0; level < tree->level_count; level++) {
        tree->parent[level] = out.parent[level];
        tree->free[level] = out.places[level];
    }
    tree->rows = rows;
    tree->chosen = chosen;
    tree->spare = spare;
    tree->key = key;
    topology_sum(tree);
    const char *word = child_text(example, "mode", "required");
    const enum topology_mode mode = !strcmp(word, "unconstrained") ? TOPOLOGY_UNCONSTRAINED
                                    : !strcmp(word, "preferred")   ? TOPOLOGY_PREFERRED
                                                                   : TOPOLOGY_REQUIRED;
    const bool admitted = topology_assign(tree, (uint32_t)child_integer(example, "count", 0), mode,
                                          level_of(example, tree), got);
    const struct yaml_node *want = yaml_child(example, "expected");
    if (admitted != (want->kind == YAML_MAP)) {
        wrong(" %sadmitted;", admitted ? "" : "not ");
        return;
    }
    for (uint32_t h = 0; admitted && h < tree->domains[tree->level_count - 1]; h++)
        if (child_integer(want, out.host[h], 0) != (int64_t)got[h])
            wrong(" %s: %u, want %" PRId64 ";", out.host[h], got[h],
                  child_integer(want, out.host[h], 0));
}

/* --- GPUs of a node ------------------------------------------------------------------------------ */

static uint32_t read_mask(const struct yaml_node *list)
{
    uint32_t mask = 0;
    for (const struct yaml_node *one = list ? list->first : NULL; one; one = one->next) {
        int64_t index;
        if (node_integer(one, &index) && index >= 0 && index < GPU_GROUP_WIDTH) mask |= 1u << index;
    }
    return mask;
}

static void try_preferred(const struct yaml_node *root, const struct yaml_node *example)
{
    int16_t score[GPU_GROUP_WIDTH][GPU_GROUP_WIDTH] = { { 0 } };
    const struct yaml_node *box = yaml_child(yaml_child(root, "boxes"), child_text(example, "box", ""));
    int a = 0;
    for (const struct yaml_node *row = box ? box->first : NULL; row; row = row->next, a++) {
        int b = 0;
        for (const struct yaml_node *cell = row->first; cell; cell = cell->next, b++) {
            int64_t value = 0;
            node_integer(cell, &value);
            score[a][b] = (int16_t)value;
        }
    }
    const uint32_t got = gpu_group_preferred(score, read_mask(yaml_child(example, "available")),
                                             read_mask(yaml_child(example, "must_include")),
                                             (uint32_t)child_integer(example, "size", 0));
    const uint32_t want = read_mask(yaml_child(example, "expected"));
    if (got != want) wrong(" set %#x, want %#x;", got, want);
}

/* --- MIG ----------------------------------------------------------------------------------------- */

static void try_mig(const struct yaml_node *root, const struct yaml_node *example)
{
    const struct yaml_node *table = yaml_child(yaml_child(root, "gpus"), child_text(example, "gpu", ""));
    const struct yaml_node *profiles = table ? yaml_child(table, "profiles") : NULL;
    if (!profiles) {
        wrong(" no such GPU;");
        return;
    }
    struct mig_gpu gpu = { .compute_slices = (uint32_t)child_integer(table, "compute_slices", 7),
                           .memory_slices = (uint32_t)child_integer(table, "memory_slices", 8) };
    uint32_t counts[MIG_KINDS_MOST] = { 0 }, known = 0;
    const struct yaml_node *want = yaml_child(example, "want");
    for (const struct yaml_node *one = profiles->first; one; one = one->next) {
        const uint32_t row = gpu.profile_count++;
        gpu.profiles[row] = (struct mig_profile){ (uint32_t)child_integer(one, "compute", 1),
                                                  (uint32_t)child_integer(one, "size", 1),
                                                  read_mask(yaml_child(one, "starts")),
                                                  (uint32_t)child_integer(one, "max", 0) };
        for (const struct yaml_node *asked = want->first; asked; asked = asked->next)
            if (!strcmp(asked->text, one->key)) counts[row]++, known++;
    }
    const bool fits = known == want->child_count && mig_fits(&gpu, counts);
    if (fits != !strcmp(child_text(example, "fits", ""), "true"))
        wrong(" it %s;", fits ? "fits" : "does not fit");
}

#endif
