/* scenario_workload.c - the trace, where it was recorded, slack. */
#include "io/scenario_parts.h"

#include "base/quantity.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* ---- files ---- */

/* folder of the scenario + path; false when it is too long. */
static bool beside_scenario(const struct scenario *scenario, const char *path, char *out,
                            size_t out_bytes)
{
    const char *slash = strrchr(scenario->path, '/');
    const int folder_bytes = slash ? (int)(slash - scenario->path + 1) : 0;
    const int length = snprintf(out, out_bytes, "%.*s%s", folder_bytes, scenario->path, path);
    return length >= 0 && (size_t)length < out_bytes;
}

bool read_path(struct key_reader *reader, const char *name, const struct yaml_node *node,
               char path[LIMIT_PATH_BYTES])
{
    const struct scenario *scenario = reading_of(reader)->scenario;
    bool fits = true;
    if (node->text[0] == '/')
        fits = text_copy(path, LIMIT_PATH_BYTES, node->text, node->text_bytes);
    else
        fits = beside_scenario(scenario, node->text, path, LIMIT_PATH_BYTES);
    /* What is typed on the command line may be meant from where it is typed. */
    if (fits && access(path, F_OK) != 0 && strcmp(node->document->file, "--set") == 0 &&
        access(node->text, F_OK) == 0)
        fits = text_copy(path, LIMIT_PATH_BYTES, node->text, node->text_bytes);
    if (!fits)
        diag_error(reader->diag, yaml_place(node), "%s%s: path longer than %d bytes", reader->path,
                   name, LIMIT_PATH_BYTES - 1);
    else if (access(path, R_OK) != 0)
        diag_world_at(reader->diag, yaml_place(node), "%s%s: cannot read '%s': %s", reader->path,
                      name, path, strerror(errno));
    else
        return true;
    return false;
}

void read_trace_file(struct key_reader *reader, const struct key_found *found)
{
    struct scenario *scenario = reading_of(reader)->scenario;
    const struct yaml_node *node = found->node;
    if (node == NULL) {
        key_show(reader, "file", "none", NULL, "default");
        return;
    }
    if (node->kind != YAML_SCALAR) {
        key_wrong_kind(reader, "file", node, "a path");
        return;
    }
    read_path(reader, "file", node, scenario->trace_path);
    key_show(reader, "file", node->text, node, NULL);
}

/* ---- where it was recorded ---- */

void read_recorded_server(struct key_reader *reader, const struct key_found *found)
{
    read_server(reader, "server", found->node, &reading_of(reader)->scenario->recorded_server);
}

void read_recorded_on(struct key_reader *reader, const struct key_found *found)
{
    struct scenario *scenario = reading_of(reader)->scenario;
    const struct yaml_node *node = found->node;
    if (node == NULL && scenario->trace_path[0] != '\0') {
        key_missing(reader, found->row, found->map);
        return;
    }
    const bool none =
        node == NULL || (node->kind == YAML_SCALAR && strcmp(node->text, "none") == 0);
    if (none) {
        scenario->recorded_none = true;
        key_show(reader, "recorded_on", "none", node, "default: there is no trace");
        return;
    }
    if (node->kind != YAML_MAP) {
        key_wrong_kind(reader, "recorded_on", node, "{server: TYPE, count: N} or none");
        return;
    }
    const size_t length = key_enter(reader, "recorded_on.");
    keys_read(reader, "workload.trace.recorded_on.", node, NULL, scenario);
    key_leave(reader, length);
}

void read_contains(struct key_reader *reader, const struct key_found *found)
{
    static const char *const words[] = { "startup", "checkpoint", "stalls" };
    struct scenario *scenario = reading_of(reader)->scenario;
    bool *const flags[] = { &scenario->contains_startup, &scenario->contains_checkpoint,
                            &scenario->contains_stalls };
    for (size_t i = 0; i < 3; i++) *flags[i] = found->node == NULL;
    if (found->node == NULL) {
        key_show(reader, "contains", "[startup, checkpoint, stalls]", NULL, "default");
        return;
    }
    if (found->node->kind != YAML_LIST) {
        key_wrong_kind(reader, "contains", found->node, "a list of startup, checkpoint, stalls");
        return;
    }
    char shown[64] = "";
    for (const struct yaml_node *item = found->node->first; item; item = item->next) {
        size_t word = 0;
        while (word < 3 && (item->kind != YAML_SCALAR || strcmp(words[word], item->text) != 0))
            word++;
        if (word < 3 && !*flags[word])
            *flags[word] = true;
        else if (word < 3)
            diag_error(reader->diag, yaml_place(item), "'%s' stands twice", item->text);
        else
            key_unknown_word(reader, "contains", item, words, 3);
    }
    for (size_t i = 0; i < 3; i++) {
        const size_t used = strlen(shown);
        if (*flags[i])
            snprintf(shown + used, sizeof shown - used, "%s%s", used ? ", " : "[", words[i]);
    }
    const size_t used = strlen(shown);
    snprintf(shown + used, sizeof shown - used, "%s", used ? "]" : "[]");
    key_show(reader, "contains", shown, found->node, NULL);
}

/* ---- slack ---- */

static bool read_one_slack(struct key_reader *reader, const struct yaml_node *node, uint32_t *slack)
{
    if (node->kind != YAML_SCALAR) {
        key_wrong_kind(reader, "slack", node, "a count or any");
        return false;
    }
    *slack = SLACK_ANY;
    if (strcmp(node->text, "any") == 0) return true;
    int64_t count = 0;
    struct why why;
    if (!quantity_count(node->text, node->text_bytes, &count, &why)) {
        diag_error(reader->diag, yaml_place(node), "%sslack: cannot read '%s': %s, or 'any'",
                   reader->path, node->text, why.text);
        return false;
    }
    *slack = (uint32_t)count;
    if (count >= 0 && count <= LIMIT_GPUS) return true;
    diag_error(reader->diag, yaml_place(node), "%sslack must be 0 to %d or any, got %s",
               reader->path, LIMIT_GPUS, node->text);
    return false;
}

void read_slack(struct key_reader *reader, const struct key_found *found)
{
    struct scenario *scenario = reading_of(reader)->scenario;
    const struct yaml_node *node = found->node;
    scenario->slack_count = 1;
    scenario->slack[0] = 0;
    if (node == NULL) {
        key_show(reader, "slack", "0", NULL, "default");
        return;
    }
    const bool is_list = node->kind == YAML_LIST;
    if (is_list && (node->child_count == 0 || node->child_count > LIMIT_SLACKS)) {
        diag_error(reader->diag, yaml_place(node), "%sslack: a list of 1 to %d, got %u",
                   reader->path, LIMIT_SLACKS, node->child_count);
        return;
    }
    char shown[128] = "";
    size_t used = 0;
    scenario->slack_count = 0;
    for (const struct yaml_node *item = is_list ? node->first : node; item;
         item = is_list ? item->next : NULL) {
        uint32_t slack = 0;
        if (!read_one_slack(reader, item, &slack)) return;
        for (uint32_t i = 0; i < scenario->slack_count; i++)
            if (scenario->slack[i] == slack)
                diag_error(reader->diag, yaml_place(item), "%sslack: '%s' stands twice",
                           reader->path, item->text);
        scenario->slack[scenario->slack_count++] = slack;
        used += (size_t)snprintf(shown + used, sizeof shown - used, "%s%.20s",
                                 used      ? ", "
                                 : is_list ? "["
                                           : "",
                                 item->text);
    }
    snprintf(shown + used, sizeof shown - used, "%s", is_list ? "]" : "");
    key_show(reader, "slack", shown, node, NULL);
}
