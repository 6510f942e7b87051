/* kube_words.c - see kube_words.h. A text is copied once and cut in place. */
#include "policy/kube_words.h"

#include <string.h>

static uint32_t count_items(const char *text)
{
    uint32_t count = *text != 0;
    for (; *text; text++) count += *text == ',';
    return count;
}

static char *copy_text(const char *text, struct arena *arena)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = arena_take(arena, bytes, 1);
    if (copy) memcpy(copy, text, bytes);
    return copy;
}

/* Cuts the item at *rest off, without blanks around it; NULL when the text is at its end. */
static char *next_item(char **rest)
{
    if (!*rest || !**rest) return NULL;
    char *item = *rest, *comma = strchr(item, ',');
    *rest = comma ? comma + 1 : NULL;
    if (comma) *comma = 0;
    while (*item == ' ') item++;
    for (size_t end = strlen(item); end > 0 && item[end - 1] == ' '; end--) item[end - 1] = 0;
    return item;
}

/* Cuts the text at the first such character and returns what is behind it; NULL when there is none. */
static char *cut(char *text, char at)
{
    char *found = strchr(text, at);
    if (!found) return NULL;
    *found = 0;
    return found + 1;
}

static enum taint_effect effect_of(const char *word)
{
    if (!strcmp(word, "PreferNoSchedule")) return TAINT_PREFER_NO_SCHEDULE;
    return !strcmp(word, "NoExecute") ? TAINT_NO_EXECUTE : TAINT_NO_SCHEDULE;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static bool read_labels(const char *text, struct arena *arena, const struct kube_label **labels,
                        uint32_t *count)
{
    struct kube_label *rows = ARENA_ARRAY(arena, struct kube_label, count_items(text));
    char *rest = copy_text(text, arena);
    if (!rows || !rest) return false;
    *count = 0;
    for (char *item; (item = next_item(&rest));) {
        if (!*item) continue;
        const char *value = or_empty(cut(item, '='));
        rows[(*count)++] = (struct kube_label){ item, value };
    }
    *labels = rows;
    return true;
}

bool kube_read_facts(const char *labels, const char *taints, struct arena *arena,
                     struct kube_facts *facts)
{
    *facts = (struct kube_facts){ 0 };
    struct kube_taint *rows = ARENA_ARRAY(arena, struct kube_taint, count_items(taints));
    char *rest = copy_text(taints, arena);
    if (!rows || !rest || !read_labels(labels, arena, &facts->labels, &facts->label_count))
        return false;
    for (char *item; (item = next_item(&rest));) {
        if (!*item) continue;
        const char *effect = or_empty(cut(item, ':'));
        const char *value = or_empty(cut(item, '='));
        rows[facts->taint_count++] = (struct kube_taint){ item, value, effect_of(effect) };
    }
    facts->taints = rows;
    return true;
}

bool kube_read_wish(const char *selector, const char *tolerations, struct arena *arena,
                    struct kube_wish *wish)
{
    *wish = (struct kube_wish){ 0 };
    struct kube_toleration *rows =
        ARENA_ARRAY(arena, struct kube_toleration, count_items(tolerations));
    char *rest = copy_text(tolerations, arena);
    if (!rows || !rest || !read_labels(selector, arena, &wish->selector, &wish->selector_count))
        return false;
    for (char *item; (item = next_item(&rest));) {
        if (!*item) continue;
        const char *effect = cut(item, ':'), *value = cut(item, '=');
        rows[wish->toleration_count++] =
            (struct kube_toleration){ !strcmp(item, "*") ? "" : item, or_empty(value), !value,
                                      effect ? effect_of(effect) : TAINT_ANY };
    }
    wish->tolerations = rows;
    return true;
}
