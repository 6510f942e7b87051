/* naive_place.h - the placement rules of policy/place.h written again by scanning every node, with
 * nothing of the engine: no index, no sets, no classes.
 *
 *   free_gpus[node] < 0: the node takes no jobs. Ties always go to the lowest node or leaf. */
#ifndef TESTS_NAIVE_PLACE_H
#define TESTS_NAIVE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

enum { NAIVE_NODES = 512 };

struct naive_cluster {
    uint32_t nodes, gpus_per_node, nodes_per_leaf;
    int free_gpus[NAIVE_NODES];
};

struct naive_part {
    uint32_t node, gpus;
};

/* The plain shape: so many nodes with so many GPUs each; whole: all of the node's. most_nodes: with
 * slack. */
struct naive_shape {
    uint32_t gpus, nodes, per_node, most_nodes;
    bool whole;
};

/* Shape of a job of `gpus` as MODELS and DESIGN 3 state it: fits one server: one server; else whole
 * servers, as few as can be (`free`: not rounded up); slack: up to so many more. */
static inline struct naive_shape naive_shape(const struct naive_cluster *cluster, uint32_t gpus,
                                             bool free_shape, uint32_t slack)
{
    const uint32_t g = cluster->gpus_per_node;
    struct naive_shape shape = { .gpus = gpus, .nodes = 1, .per_node = gpus };
    if (gpus > g) {
        shape.nodes = (gpus + g - 1) / g;
        shape.per_node = g;
        shape.whole = !free_shape || gpus % g == 0;
    }
    shape.most_nodes = shape.nodes;
    while (shape.most_nodes < gpus && shape.most_nodes < cluster->nodes &&
           (free_shape || shape.most_nodes - shape.nodes < slack))
        shape.most_nodes++;
    return shape;
}

/* The node with the fewest (pack) or most (spread) free GPUs that has at least `gpus`. */
static inline int naive_node(const struct naive_cluster *cluster, const bool *used, uint32_t gpus,
                             bool pack)
{
    int best = -1;
    for (uint32_t node = 0; node < cluster->nodes; node++) {
        const int is = cluster->free_gpus[node];
        if (used[node] || is < (int)gpus) continue;
        const int was = best < 0 ? 0 : cluster->free_gpus[best];
        if (best < 0 || (pack ? is < was : is > was)) best = (int)node;
    }
    return best;
}

static inline uint32_t naive_whole_of(const struct naive_cluster *cluster, uint32_t leaf)
{
    uint32_t whole = 0;
    for (uint32_t node = leaf * cluster->nodes_per_leaf;
         node < (leaf + 1) * cluster->nodes_per_leaf && node < cluster->nodes; node++)
        whole += cluster->free_gpus[node] == (int)cluster->gpus_per_node;
    return whole;
}

/* Whole servers: the leaf of best fit if one holds them all; else the fullest leaf, again and again,
 * and the rest in the leaf of best fit. Spread: always the leaf with the most. */
static inline uint32_t naive_whole(const struct naive_cluster *cluster, uint32_t wanted, bool pack,
                                   struct naive_part *parts)
{
    const uint32_t leaves =
        (cluster->nodes + cluster->nodes_per_leaf - 1) / cluster->nodes_per_leaf;
    bool taken[NAIVE_NODES] = { false };
    uint32_t count = 0;
    while (count < wanted) {
        int fit = -1, most = -1;
        for (uint32_t leaf = 0; leaf < leaves; leaf++) {
            if (taken[leaf]) continue;
            const uint32_t whole = naive_whole_of(cluster, leaf);
            if (whole >= wanted - count &&
                (fit < 0 || whole < naive_whole_of(cluster, (uint32_t)fit)))
                fit = (int)leaf;
            if (whole > 0 && (most < 0 || whole > naive_whole_of(cluster, (uint32_t)most)))
                most = (int)leaf;
        }
        const int leaf = pack && fit >= 0 ? fit : most;
        if (leaf < 0) return 0;
        taken[leaf] = true;
        for (uint32_t node = (uint32_t)leaf * cluster->nodes_per_leaf;
             node < ((uint32_t)leaf + 1) * cluster->nodes_per_leaf && node < cluster->nodes &&
             count < wanted;
             node++)
            if (cluster->free_gpus[node] == (int)cluster->gpus_per_node)
                parts[count++] = (struct naive_part){ node, cluster->gpus_per_node };
    }
    return count;
}

/* Pieces: the emptiest node again and again; the last piece on the fullest node that holds it. */
static inline uint32_t naive_pieces(const struct naive_cluster *cluster, uint32_t gpus,
                                    uint32_t most_nodes, uint32_t per_node,
                                    struct naive_part *parts)
{
    bool used[NAIVE_NODES] = { false };
    uint32_t count = 0;
    while (gpus > 0 && count < most_nodes) {
        int node = naive_node(cluster, used, 1, false);
        if (node < 0) return 0;
        uint32_t piece = (uint32_t)cluster->free_gpus[node];
        if (piece > per_node) piece = per_node;
        if (gpus <= piece) {
            node = naive_node(cluster, used, gpus, true);
            piece = gpus;
        }
        used[node] = true;
        parts[count++] = (struct naive_part){ (uint32_t)node, piece };
        gpus -= piece;
    }
    return gpus == 0 ? count : 0;
}

/* Parts of a job of this shape, or 0: it does not fit now. parts[] has NAIVE_NODES entries. */
static inline uint32_t naive_place(const struct naive_cluster *cluster,
                                   const struct naive_shape *shape, bool pack,
                                   struct naive_part *parts)
{
    const bool used[NAIVE_NODES] = { false };
    uint32_t count = 0;
    if (shape->nodes == 1) {
        const int node = naive_node(cluster, used, shape->per_node, pack);
        if (node >= 0) {
            parts[0] = (struct naive_part){ (uint32_t)node, shape->gpus };
            count = 1;
        }
    } else if (shape->whole)
        count = naive_whole(cluster, shape->nodes, pack, parts);
    else
        count = naive_pieces(cluster, shape->gpus, shape->nodes, shape->per_node, parts);
    if (count > 0 || shape->most_nodes == shape->nodes) return count;
    return naive_pieces(cluster, shape->gpus, shape->most_nodes, cluster->gpus_per_node, parts);
}

#endif
