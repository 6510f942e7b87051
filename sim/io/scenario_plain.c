/* scenario_plain.c - what the plain policies take beside their names. */
#include "base/quantity.h"
#include "io/scenario_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const int64_t THRESHOLD_MOST_GPU_S =
    INT64_C(1000000000000); /* 4 million GPUs for three days */

void read_las_thresholds(struct key_reader *reader, const struct key_found *found)
{
    struct scenario *scenario = reading_of(reader)->scenario;
    const struct yaml_node *node = found->node;
    /* Tiresias' simulator. */
    scenario->las_thresholds_gpu_s[0] = 3250;
    scenario->las_thresholds_gpu_s[1] = 7200;
    scenario->las_threshold_count = 2;
    if (!node) {
        key_show(reader, "las_thresholds", "[3250, 7200]", NULL, "default");
        return;
    }
    if (node->kind != YAML_LIST || node->child_count == 0 ||
        node->child_count > LIMIT_LAS_THRESHOLDS) {
        diag_error(reader->diag, yaml_place(node),
                   "%slas_thresholds: a list of 1 to %d counts of GPU-seconds", reader->path,
                   LIMIT_LAS_THRESHOLDS);
        return;
    }
    char shown[256] = "[";
    size_t used = 1;
    uint32_t count = 0;
    for (const struct yaml_node *item = node->first; item; item = item->next) {
        int64_t gpu_s = 0;
        struct why why = { 0 };
        if (item->kind != YAML_SCALAR ||
            !quantity_count(item->text, item->text_bytes, &gpu_s, &why)) {
            diag_error(reader->diag, yaml_place(item),
                       "%slas_thresholds: cannot read a count of GPU-seconds: %s", reader->path,
                       item->kind == YAML_SCALAR ? why.text : "not a number");
            return;
        }
        const int64_t least = count == 0 ? 1 : scenario->las_thresholds_gpu_s[count - 1] + 1;
        if (gpu_s < least || gpu_s > THRESHOLD_MOST_GPU_S) {
            diag_error(reader->diag, yaml_place(item),
                       "%slas_thresholds must rise, from 1 to %" PRId64 ", got %s", reader->path,
                       THRESHOLD_MOST_GPU_S, item->text);
            return;
        }
        scenario->las_thresholds_gpu_s[count++] = gpu_s;
        used += (size_t)snprintf(shown + used, sizeof shown - used, "%s%" PRId64,
                                 count > 1 ? ", " : "", gpu_s);
    }
    scenario->las_threshold_count = count;
    snprintf(shown + used, sizeof shown - used, "]");
    key_show(reader, "las_thresholds", shown, node, NULL);
}
