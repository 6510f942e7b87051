/* model_funcs_flows.h - queries of fair shares and transfers (MODELS 4.1, 4.2).
 *
 * links=NAME:CAPACITY|... flows=NAME:LINK*PER_UNIT+LINK:w=WEIGHT:c=CAP:size=SIZE:start=START|...; what is absent is 1, 1,
 * no cap, 0, 0. A flow may name no link: NAME::c=2. */
#ifndef TESTS_MODEL_FUNCS_FLOWS_H
#define TESTS_MODEL_FUNCS_FLOWS_H

#include "models/maxmin.h"
#include "tests/model_rows.h"

enum { FLOWS_MAX = 64, FLOW_USES_MAX = 256 };

enum { PIECE_MAX = 256 };

/* A net as a row tells it, with room for its answer. */
struct flow_case {
    char link_names[FLOWS_MAX][PIECE_MAX], names[FLOWS_MAX][PIECE_MAX];
    double capacity[FLOWS_MAX];
    struct maxmin_flow flows[FLOWS_MAX];
    struct maxmin_use uses[FLOW_USES_MAX];
    struct fluid fluids[FLOWS_MAX];
    struct maxmin_net net;
    double left[FLOWS_MAX], load[FLOWS_MAX], bytes[FLOWS_MAX], rate[FLOWS_MAX], answer[FLOWS_MAX];
    uint8_t state[FLOWS_MAX];
    struct maxmin_scratch scratch;
};

/* The piece of *at up to a separator or the end; moves *at behind the separator. A longer one is cut. */
static inline const char *next_piece(const char **at, const char *separators, char piece[PIECE_MAX])
{
    const size_t bytes = strcspn(*at, separators);
    const size_t kept = bytes < PIECE_MAX ? bytes : PIECE_MAX - 1;
    memcpy(piece, *at, kept);
    piece[kept] = '\0';
    *at += bytes + ((*at)[bytes] != '\0');
    return piece;
}

static inline double piece_number(struct query *q, const char *text, const char *what)
{
    double number = 0;
    if (!number_of(text, strlen(text), &number)) input_problem(q, what);
    return number;
}

static inline void read_links(struct query *q, struct flow_case *all)
{
    char text[1024], one[PIECE_MAX], number[PIECE_MAX];
    snprintf(text, sizeof text, "%s", in_text(q, "links"));
    for (const char *at = text; *at && all->net.link_count < FLOWS_MAX;) {
        const char *part = next_piece(&at, "|", one);
        const uint32_t link = all->net.link_count++;
        next_piece(&part, ":", all->link_names[link]);
        all->capacity[link] = piece_number(q, next_piece(&part, ":", number), "links");
    }
}

/* LINK*PER_UNIT+LINK */
static inline void read_path(struct query *q, struct flow_case *all, uint32_t flow,
                             const char *path)
{
    while (*path && all->net.use_count < FLOW_USES_MAX) {
        char one[PIECE_MAX], name[PIECE_MAX];
        const char *part = next_piece(&path, "+", one);
        next_piece(&part, "*", name);
        uint32_t link = 0;
        while (link < all->net.link_count && strcmp(all->link_names[link], name) != 0) link++;
        if (link == all->net.link_count) {
            input_problem(q, "flows: unknown link");
            return;
        }
        const double per_unit = *part ? piece_number(q, part, "flows") : 1;
        all->uses[all->net.use_count++] = (struct maxmin_use){ flow, link, per_unit };
    }
}

static inline void read_flow(struct query *q, struct flow_case *all, const char *text)
{
    const uint32_t flow = all->net.flow_count++;
    char path[PIECE_MAX], one[PIECE_MAX];
    next_piece(&text, ":", all->names[flow]);
    read_path(q, all, flow, next_piece(&text, ":", path));
    all->flows[flow] = (struct maxmin_flow){ 1, INFINITY };
    while (*text) {
        const char *option = next_piece(&text, ":", one), *value = strchr(option, '=');
        const double number = value ? piece_number(q, value + 1, "flows") : 0;
        if (strncmp(option, "w=", 2) == 0)
            all->flows[flow].weight = number;
        else if (strncmp(option, "c=", 2) == 0)
            all->flows[flow].cap = number;
        else if (strncmp(option, "size=", 5) == 0)
            all->fluids[flow].size = number;
        else if (strncmp(option, "start=", 6) == 0)
            all->fluids[flow].start_s = number;
        else if (strncmp(option, "lat=", 4) == 0)
            all->fluids[flow].latency_s = number;
        else
            input_problem(q, "flows: unknown word");
    }
}

static inline struct flow_case *read_flow_case(struct query *q)
{
    static struct flow_case all;
    memset(&all, 0, sizeof all);
    read_links(q, &all);
    char text[1024];
    snprintf(text, sizeof text, "%s", in_text(q, "flows"));
    for (const char *at = text; *at && all.net.flow_count < FLOWS_MAX;) {
        char one[PIECE_MAX];
        read_flow(q, &all, next_piece(&at, "|", one));
    }
    all.net.capacity = all.capacity;
    all.net.flows = all.flows;
    all.net.uses = all.uses;
    all.scratch = (struct maxmin_scratch){ all.left, all.load, all.state, all.bytes, all.rate };
    return &all;
}

static inline void put_flows(struct query *q, const struct flow_case *all, const char *what)
{
    for (uint32_t flow = 0; flow < all->net.flow_count; flow++) {
        char output[PIECE_MAX + 16];
        snprintf(output, sizeof output, "%s_%s", what, all->names[flow]);
        put(q, output, all->answer[flow]);
    }
}

static inline void q_maxmin(struct query *q)
{
    struct flow_case *all = read_flow_case(q);
    if (q->problem[0]) return;
    maxmin_rates(&all->net, &all->scratch, all->answer);
    put(q, "error", maxmin_error(&all->net, &all->scratch, all->answer));
    put_flows(q, all, "rate");
}

static inline void q_fluid(struct query *q)
{
    struct flow_case *all = read_flow_case(q);
    if (q->problem[0]) return;
    fluid_finish(&all->net, all->fluids, &all->scratch, all->answer);
    put_flows(q, all, "finish");
}

#endif
