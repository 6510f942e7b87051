/* place.h - where a job that fits would go: pack or spread. Proposes parts, changes nothing.
 *
 *   one server     pack: the fullest node that has enough free GPUs; spread: the emptiest
 *   whole servers  pack: the leaf with the fewest wholly free nodes that holds all of them, else
 *                  leaves from the fullest on and the rest in a leaf of best fit; spread: the leaf
 *                  with the most wholly free nodes first
 *   with slack     when the plain shape does not fit: the emptiest nodes first, the last part where it fits best
 *
 * Ties: the lowest node. */
#ifndef GPUPLAN_POLICY_PLACE_H
#define GPUPLAN_POLICY_PLACE_H

#include "cluster/cluster.h"
#include "cluster/request.h"
#include "policy/policy.h"
#include "spec/scenario.h"

#include <stdint.h>

/* Fills parts[] (at least demand->nodes_max long) and returns their number; 0: no place now.
 * Cores and memory are verified here when the demand asks for them. */
uint32_t place_find(const struct cluster *cluster, const struct demand *demand,
                    enum placement placement, struct part *parts);

/* The same for a request class; when only its hosts are full, that is remembered until something
 * is released. */
uint32_t place_class(const struct policy_view *view, uint32_t request_class, struct part *parts);

#endif
