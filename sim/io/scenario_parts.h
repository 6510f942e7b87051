/* scenario_parts.h - what the files of the scenario reader share; nothing else includes it. */
#ifndef GPUPLAN_IO_SCENARIO_PARTS_H
#define GPUPLAN_IO_SCENARIO_PARTS_H

#include "io/catalog.h"
#include "io/keys_read.h"
#include "io/yaml.h"
#include "spec/scenario.h"

/* A file that a scenario includes, or the scenario itself on top of the chain. */
struct include_file {
    char path[LIMIT_PATH_BYTES];      /* as messages show it                       */
    const struct include_file *above; /* the file that includes it; NULL on top    */
    struct include_file *next;        /* in the order of reading                   */
    struct yaml_document document;    /* unused on top                             */
    uint64_t device, inode;           /* what file it is, whatever it is called    */
    uint32_t level;                   /* 0 on top                                  */
};

/* One reading. `reader.context` points back at it. */
struct reading {
    struct key_reader reader;
    struct scenario *scenario;
    struct yaml_document document; /* the file; overrides are grafted into its tree              */
    struct yaml_document *sets;    /* [set_count], one small document per --set                   */
    size_t set_count;
    struct include_file top, *includes, **include_tail; /* owned; their nodes hang in document's tree */
    uint32_t include_count;
    struct catalog catalog;
    bool has_catalog;
    const struct yaml_node *rates; /* entry of failures.yaml that the scenario names, or NULL     */
    const struct yaml_node *layout_nodes[LIMIT_LAYOUTS];
    bool may_differ_gpu, may_differ_fabric;
};

static inline struct reading *reading_of(struct key_reader *reader) { return reader->context; }

/* scenario_set.c: puts "path=value" into the tree as if it stood in the file. */
enum status scenario_set(struct reading *reading, const char *line, struct yaml_document *set);

/* scenario_include.c: merges the files that the document includes below its root; clear gives them back. */
enum status scenario_include(struct reading *reading);
void scenario_include_clear(struct reading *reading);

/* Readers of the rows of one part of the table. */
void read_include(struct key_reader *reader, const struct key_found *found);
void read_horizon(struct key_reader *reader, const struct key_found *found);
void read_kill_at_limit(struct key_reader *reader, const struct key_found *found);
void read_warmup(struct key_reader *reader, const struct key_found *found);
void read_follow(struct key_reader *reader, const struct key_found *found);
void read_resample(struct key_reader *reader, const struct key_found *found);
void read_until(struct key_reader *reader, const struct key_found *found);
void read_policy(struct key_reader *reader, const struct key_found *found);
void read_trace_file(struct key_reader *reader, const struct key_found *found);
void read_recorded_on(struct key_reader *reader, const struct key_found *found);
void read_recorded_server(struct key_reader *reader, const struct key_found *found);
void read_contains(struct key_reader *reader, const struct key_found *found);
void read_communication(struct key_reader *reader, const struct key_found *found);
void read_communication_kind(struct key_reader *reader, const struct key_found *found);
void read_las_thresholds(struct key_reader *reader, const struct key_found *found);
void read_slack(struct key_reader *reader, const struct key_found *found);
void read_rates(struct key_reader *reader, const struct key_found *found);
void read_component(struct key_reader *reader, const struct key_found *found);
void cut_gpus(struct key_reader *reader, const struct yaml_node *sharing, struct server_group *group);
void read_schedulers(struct key_reader *reader, const struct key_found *found);
void expand_schedulers(struct reading *reading);
uint32_t chosen_kinds(const struct yaml_node *root);
void read_layouts(struct key_reader *reader, const struct key_found *found);
void read_servers(struct key_reader *reader, const struct key_found *found);
void read_server_type(struct key_reader *reader, const struct key_found *found);
void read_group_cores(struct key_reader *reader, const struct key_found *found);
void read_group_memory(struct key_reader *reader, const struct key_found *found);
void read_taints(struct key_reader *reader, const struct key_found *found);
void read_links(struct key_reader *reader, const struct key_found *found);
void read_gpu_cores(struct key_reader *reader, const struct key_found *found);
void read_link_type(struct key_reader *reader, const struct key_found *found);
void read_nics_per_gpu(struct key_reader *reader, const struct key_found *found);
void read_baseline(struct key_reader *reader, const struct key_found *found);
void read_allow_different(struct key_reader *reader, const struct key_found *found);
void read_tornado(struct key_reader *reader, const struct key_found *found);
void read_events(struct key_reader *reader, const struct key_found *found);
void read_event_action(struct key_reader *reader, const struct key_found *found);
void read_gates(struct key_reader *reader, const struct key_found *found);
void read_gate_limit(struct key_reader *reader, const struct key_found *found);

/* A path as written, relative to the scenario's folder; false after a problem. */
bool read_path(struct key_reader *reader, const char *name, const struct yaml_node *node,
               char path[LIMIT_PATH_BYTES]);

/* Any row of texts: one text, or a list or map of them, joined by commas into the row's field. */
void read_words(struct key_reader *reader, const struct key_found *found);

/* A server type by its id or written inline, for two of the rows above. */
void read_server(struct key_reader *reader, const char *name, const struct yaml_node *node,
                 struct server_type *server);

/* The schedulers of a scenario: the i-th of several, or for 0 the only one; NULL behind the last. Their scheduler part
 * alone counts. */
const struct scenario *scheduler_at(const struct scenario *scenario, uint32_t i);

/* Whether a layout's servers differ in what communication and failures depend on. */
bool is_mixed(const struct layout *layout);

/* scenario_check.c: what several keys must satisfy together. */
void check_scenario(struct reading *reading);

/* Keys of a fabric of another kind; remembers where the others stand (scenario_fabric.c). */
void check_fabric(struct reading *reading, uint32_t row);

#endif
