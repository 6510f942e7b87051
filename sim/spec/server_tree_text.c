/* server_tree_text.c - a tree written as text: "(GPU0 NIC0) ((GPU1 NIC1) GPU2)"; see server_tree.h. */
#include "spec/server_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 2 };

struct reading {
    struct server_tree *tree;
    const char *text;
    uint32_t at;
    uint8_t socket, switches; /* switches numbered so far, over all texts */
    uint8_t open[DEPTH_MOST];
    uint32_t depth;
    bool gpu_seen[LIMIT_GPUS_PER_SERVER], nic_seen[LIMIT_TREE_NICS];
    char *why;
    uint32_t why_bytes;
};

static bool problem(struct reading *reading, const char *why)
{
    snprintf(reading->why, reading->why_bytes, "%s", why);
    return false;
}

/* "GPU7" at the place of reading; its number goes behind. */
static bool take_number(struct reading *reading, uint32_t *number)
{
    const char *digits = reading->text + reading->at + 3;
    char *end;
    if (*digits < '0' || *digits > '9') return problem(reading, "GPU and NIC need a number");
    const unsigned long value = strtoul(digits, &end, 10);
    if (end - digits > 4) return problem(reading, "a number of at most four digits");
    *number = (uint32_t)value;
    reading->at += (uint32_t)(end - digits) + 3;
    return true;
}

static bool take_device(struct reading *reading)
{
    struct server_tree *tree = reading->tree;
    const uint32_t start = reading->at;
    const bool is_gpu = strncmp(reading->text + start, "GPU", 3) == 0;
    uint32_t number = 0;
    if (!is_gpu && strncmp(reading->text + start, "NIC", 3) != 0)
        return problem(reading, "expected GPU0, NIC0, '(' or ')'");
    if (!take_number(reading, &number)) return false;
    const uint32_t most = is_gpu ? tree->gpus : tree->nics;
    bool *seen = is_gpu ? reading->gpu_seen : reading->nic_seen;
    if (number >= most || seen[number]) {
        reading->at = start;
        snprintf(reading->why, reading->why_bytes,
                 number >= most ? "the server has %" PRIu32 " of these, numbered from 0"
                                : "device %" PRIu32 " stands twice",
                 number >= most ? most : number);
        return false;
    }
    seen[number] = true;
    struct tree_spot spot = { .bridge = reading->socket, .socket = reading->socket };
    if (reading->depth == 0)
        spot.lower = spot.upper = reading->switches++;
    else {
        spot.upper = reading->open[0];
        spot.lower = reading->open[reading->depth - 1];
    }
    *(is_gpu ? &tree->gpu[number] : &tree->nic[number]) = spot;
    return true;
}

static bool take_text(struct reading *reading)
{
    for (reading->at = 0; reading->text[reading->at];) {
        const char c = reading->text[reading->at];
        if (c == '(') {
            if (reading->depth == DEPTH_MOST)
                return problem(reading, "switches in switches at most two deep");
            reading->open[reading->depth++] = reading->switches++;
            reading->at++;
        } else if (c == ')') {
            if (reading->depth == 0) return problem(reading, "')' without its '('");
            reading->depth--;
            reading->at++;
        } else if (c == ' ') {
            reading->at++;
        } else if (!take_device(reading)) {
            return false;
        }
        if (reading->switches >= UINT8_MAX) return problem(reading, "too many switches");
    }
    return reading->depth == 0 || problem(reading, "'(' without its ')'");
}

/* The first device that no text names. */
static bool all_seen(struct reading *reading)
{
    const struct server_tree *tree = reading->tree;
    for (uint32_t i = 0; i < tree->gpus + tree->nics; i++) {
        const bool is_gpu = i < tree->gpus;
        const uint32_t number = is_gpu ? i : i - tree->gpus;
        if (is_gpu ? reading->gpu_seen[number] : reading->nic_seen[number]) continue;
        snprintf(reading->why, reading->why_bytes, "%s%" PRIu32 " is missing",
                 is_gpu ? "GPU" : "NIC", number);
        return false;
    }
    return true;
}

bool tree_parse(struct server_tree *tree, uint32_t gpus, uint32_t nics, const char *const *texts,
                uint32_t text_count, uint32_t *text, uint32_t *at, char *why, uint32_t why_bytes)
{
    *tree = (struct server_tree){ .gpus = gpus, .nics = nics, .sockets = text_count };
    struct reading reading = { .tree = tree, .why = why, .why_bytes = why_bytes };
    for (*text = 0; *text < text_count; ++*text) {
        reading.text = texts[*text];
        reading.socket = (uint8_t)*text;
        if (take_text(&reading)) continue;
        *at = reading.at;
        return false;
    }
    *text = text_count - 1;
    *at = reading.at;
    return all_seen(&reading);
}
