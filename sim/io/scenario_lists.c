/* scenario_lists.c - see scenario_lists.h. */
#include "io/scenario_lists.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *found_name(const struct key_found *found)
{
    const char *dot = strrchr(found->row->path, '.');
    return dot ? dot + 1 : found->row->path;
}

void refuse_value(struct key_reader *reader, const struct key_found *found, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_error(reader->diag, yaml_place(found->node), "%s%s: %s", reader->path, found_name(found),
               text);
}

/* ---- words ---- */

bool list_word(const char **at, char *out, size_t out_bytes)
{
    if (*at == NULL || **at == '\0') return false;
    const size_t bytes = strcspn(*at, ",");
    const char *first = *at, *last = *at + bytes;
    while (first < last && *first == ' ') first++;
    while (last > first && last[-1] == ' ') last--;
    text_copy(out, out_bytes, first, (size_t)(last - first));
    *at += bytes + ((*at)[bytes] == ',');
    return true;
}

static bool append(char out[LIST_BYTES], const char *text)
{
    const size_t used = strlen(out);
    const int bytes = snprintf(out + used, LIST_BYTES - used, "%s%s", used ? "," : "", text);
    return bytes >= 0 && used + (size_t)bytes < LIST_BYTES;
}

void read_word_list(struct key_reader *reader, const struct key_found *found, char out[LIST_BYTES])
{
    const struct yaml_node *node = found->node;
    out[0] = '\0';
    if (node == NULL) return;
    bool fits = true;
    if (node->kind == YAML_MAP) {
        key_wrong_kind(reader, found_name(found), node, "a text or a list of texts");
        return;
    }
    if (node->kind == YAML_SCALAR) fits = append(out, node->text);
    for (const struct yaml_node *item = node->first; item && fits; item = item->next) {
        if (item->kind != YAML_SCALAR) {
            key_wrong_kind(reader, found_name(found), item, "a text");
            out[0] = '\0';
            return;
        }
        fits = append(out, item->text);
    }
    if (fits) {
        key_show(reader, found_name(found), out, node, NULL);
        return;
    }
    refuse_value(reader, found, "longer than %d bytes", LIST_BYTES - 1);
    out[0] = '\0';
}

/* ---- lists of maps ---- */

void *list_room(struct key_reader *reader, const struct key_found *found,
                const struct list_form *form, uint32_t spare)
{
    const struct yaml_node *node = found->node;
    if (node == NULL) key_show(reader, found_name(found), form->empty, NULL, "default");
    if (node != NULL && node->kind != YAML_LIST) {
        key_wrong_kind(reader, found_name(found), node, "a list");
        return NULL;
    }
    if (node != NULL && node->child_count > form->items_most) {
        refuse_value(reader, found, "at most %u items, got %u", form->items_most,
                     node->child_count);
        return NULL;
    }
    const size_t room = (size_t)spare + (node ? node->child_count : 0);
    void *items = room > 0 ? calloc(room, form->item_bytes) : NULL;
    if (items == NULL && room > 0)
        diag_world(reader->diag, "%s: out of memory", reading_of(reader)->scenario->path);
    return items;
}

void list_items(struct key_reader *reader, const struct key_found *found,
                const struct list_form *form, void *items, uint32_t *count)
{
    *count = 0;
    if (found->node == NULL || items == NULL) return;
    for (const struct yaml_node *node = found->node->first; node; node = node->next) {
        char shown[96];
        if (node->kind != YAML_MAP) {
            key_wrong_kind(reader, found_name(found), node, "a mapping for each item");
            continue;
        }
        const uint64_t errors = diag_error_count(reader->diag);
        void *item = (char *)items + (size_t)*count * form->item_bytes;
        snprintf(shown, sizeof shown, "%s[%u].", found_name(found), *count);
        const size_t length = key_enter(reader, shown);
        ++*count;
        keys_read(reader, form->prefix, node, NULL, item);
        if (form->check && diag_error_count(reader->diag) == errors)
            form->check(reader, node, item);
        key_leave(reader, length);
    }
}
