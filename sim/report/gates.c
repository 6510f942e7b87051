/* gates.c - see gates.h. */
#include "report/gates.h"

#include "base/quantity.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A metric and the classes it stands for. */
struct target {
    char name[LIMIT_NAME_BYTES];
    uint8_t classes[2];
    uint32_t class_count;
};

static const struct {
    const char *alias, *name, *class_;
} aliases[] = {
    { "p95_wait", "wait_s_p95", "all" },
    { "p95_wait_large", "wait_s_p95", "16+" },
    { "p95_completion", "completion_s_p95", "all" },
    { "p95_completion_large", "completion_s_p95", "16+" },
};

static bool read_class(const char *text, struct target *target)
{
    target->class_count = 1;
    if (strcmp(text, "16+") == 0) {
        target->classes[0] = CLASS_16_63;
        target->classes[1] = CLASS_64_UP;
        target->class_count = 2;
        return true;
    }
    if (strcmp(text, "all") == 0) {
        target->classes[0] = CLASS_NONE;
        return true;
    }
    for (uint8_t class = CLASS_1; class < CLASSES; class ++)
        if (strcmp(text, class_names[class]) == 0) {
            target->classes[0] = class;
            return true;
        }
    return false;
}

static enum status unknown_metric(const struct comparison *c, const char *name, struct diag *diag)
{
    const char *names[4096];
    size_t count = 0;
    for (uint32_t i = 0; i < c->quantity_count && count < 4096; i++)
        names[count++] = c->quantities[i].name;
    const char *near = text_nearest(name, names, count);
    return diag_usage(diag, "no metric '%s' in the database%s%s%s", name,
                      near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                      near != NULL ? "'?" : "");
}

/* Splits METRIC:CLASS and checks that some layout has it. */
static enum status read_target(const struct comparison *c, const char *metric,
                               struct target *target, struct diag *diag)
{
    const char *class_ = "all";
    const char *colon = strchr(metric, ':');
    const size_t bytes = colon != NULL ? (size_t)(colon - metric) : strlen(metric);
    if (colon != NULL) class_ = colon + 1;
    if (!text_copy(target->name, sizeof target->name, metric, bytes))
        return diag_usage(diag, "the metric's name '%s' is too long", metric);
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (colon == NULL && strcmp(metric, aliases[i].alias) == 0) {
            text_copy(target->name, sizeof target->name, aliases[i].name, strlen(aliases[i].name));
            class_ = aliases[i].class_;
        }
    if (!read_class(class_, target))
        return diag_usage(diag,
                          "no size class '%s' of metric '%s'; classes are all, 1, 2-7, 8-15, "
                          "16-63, 64+, 16+",
                          class_, target->name);
    for (uint8_t class = 0; class < CLASSES; class ++)
        if (comparison_find(c, target->name, class) != NULL) return STATUS_OK;
    return unknown_metric(c, target->name, diag);
}

static const char *unit_of(const struct comparison *c, const struct target *target)
{
    for (uint8_t class = 0; class < CLASSES; class ++) {
        const struct quantity *quantity = comparison_find(c, target->name, class);
        if (quantity != NULL) return quantity->unit;
    }
    return "";
}

static enum status unknown_layout(const struct comparison *c, const char *name, struct diag *diag)
{
    const char *names[LIMIT_LAYOUTS * LIMIT_SLACKS];
    for (uint32_t i = 0; i < c->layout_count; i++) names[i] = c->stored->layouts[i].name;
    const char *near = text_nearest(name, names, c->layout_count);
    return diag_usage(diag, "a gate names no layout of the database: '%s'%s%s%s", name,
                      near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                      near != NULL ? "'?" : "");
}

static bool has_layout(const struct comparison *c, const char *name)
{
    bool found = false;
    for (uint32_t i = 0; i < c->layout_count; i++)
        found |= strcmp(c->stored->layouts[i].name, name) == 0;
    return found;
}

/* ---- --fail-if ---- */

/* The last word of text[0 .. *bytes); *bytes becomes what is in front of it, blanks removed. */
static const char *last_word(const char *text, size_t *bytes, size_t *word_bytes)
{
    size_t end = *bytes;
    while (end > 0 && text[end - 1] == ' ') end--;
    size_t start = end;
    while (start > 0 && text[start - 1] != ' ') start--;
    *word_bytes = end - start;
    *bytes = start;
    while (*bytes > 0 && text[*bytes - 1] == ' ') (*bytes)--;
    return text + start;
}

static bool read_bound(const char *unit, const char *text, size_t bytes, double *bound,
                       struct why *why)
{
    if (quantity_number(text, bytes, bound, why)) return true;
    if (strcmp(unit, "s") == 0) return quantity_duration_s(text, bytes, bound, why);
    return strcmp(unit, "1") == 0 && quantity_share(text, bytes, bound, why);
}

/* METRIC is the first word, VALUE the last, the sign in front of it; what is left is the layout,
 * whose name may hold blanks. */
enum status gate_parse(const struct comparison *c, const char *text, struct gate_rule *rule,
                       struct diag *diag)
{
    size_t bytes = strlen(text), value_bytes, sign_bytes;
    const char *value = last_word(text, &bytes, &value_bytes);
    const char *sign = last_word(text, &bytes, &sign_bytes);
    const size_t metric_bytes = strcspn(text, " ");
    const size_t layout_at = metric_bytes + strspn(text + metric_bytes, " ");
    if (sign_bytes != 1 || (*sign != '<' && *sign != '>') || metric_bytes == 0 ||
        layout_at >= bytes)
        return diag_usage(diag,
                          "cannot read --fail-if '%s': write 'METRIC LAYOUT < VALUE', as in "
                          "'yield dense8 < 0.8'",
                          text);
    struct why why = { "" };
    struct target target;
    if (!text_copy(rule->metric, sizeof rule->metric, text, metric_bytes) ||
        !text_copy(rule->layout, sizeof rule->layout, text + layout_at, bytes - layout_at))
        return diag_usage(diag, "a name in --fail-if '%s' is too long", text);
    TRY(read_target(c, rule->metric, &target, diag));
    if (!read_bound(unit_of(c, &target), value, value_bytes, &rule->bound, &why))
        return diag_usage(diag, "cannot read the value of --fail-if '%s': %s", text, why.text);
    rule->below = *sign == '>';
    rule->or_equal = true;
    return has_layout(c, rule->layout) ? STATUS_OK : unknown_layout(c, rule->layout, diag);
}

uint32_t gates_of_scenario(const struct stored *stored, struct gate_rule *rules)
{
    const struct stored_gate *rows = LOG_ITEMS(&stored->gates, const struct stored_gate);
    uint32_t count = 0;
    for (uint64_t i = 0; i < stored->gates.count && count < LIMIT_GATES; i++) {
        struct gate_rule *rule = &rules[count++];
        *rule = (struct gate_rule){ .bound = rows[i].bound, .below = rows[i].below };
        memcpy(rule->metric, rows[i].metric, sizeof rule->metric);
        memcpy(rule->layout, rows[i].layout, sizeof rule->layout);
    }
    return count;
}

/* ---- checking ---- */

static bool passes(const struct gate_rule *rule, double value)
{
    if (isnan(value)) return false;
    if (value == rule->bound) return rule->or_equal;
    return rule->below ? value < rule->bound : value > rule->bound;
}

/* How a value of the metric's unit is written: seconds in what reads best at the bound. */
struct shown {
    double factor;
    const char *unit;
};

static struct shown shown_of(const char *unit, double bound)
{
    if (strcmp(unit, "s") == 0 && fabs(bound) >= 3600) return (struct shown){ 1.0 / 3600, " h" };
    if (strcmp(unit, "s") == 0 && fabs(bound) >= 60) return (struct shown){ 1.0 / 60, " min" };
    if (strcmp(unit, "s") == 0) return (struct shown){ 1, " s" };
    return (struct shown){ 1, strcmp(unit, "gpu_h") == 0 ? " GPU-hours" : "" };
}

static bool check_one(const struct comparison *c, const struct gate_rule *rule,
                      const struct target *target, uint8_t class_, uint32_t layout, FILE *out)
{
    const struct quantity *quantity = comparison_find(c, target->name, class_);
    const struct interval none = { .mean = NAN, .half = NAN };
    const struct interval value = quantity != NULL ? quantity->cells[layout].value : none;
    const bool passed = passes(rule, value.mean);
    const struct shown shown = shown_of(unit_of(c, target), rule->bound);
    char label[LABEL_BYTES], name[LABEL_BYTES];
    fprintf(out, "gate %s: %s", passed ? "passed" : "FAILED",
            text_escape(target->name, strlen(target->name), name, sizeof name));
    if (class_ != CLASS_NONE) fprintf(out, " of %s GPUs", class_names[class_]);
    fprintf(out, " on %s is ", comparison_label(c, layout, label));
    if (value.n == 0)
        fputs("not known", out);
    else
        fprintf(out, "%.6g%s", shown.factor * value.mean, shown.unit);
    if (!isnan(value.half)) fprintf(out, " ± %.2g%s", shown.factor * value.half, shown.unit);
    fprintf(out, ",%s %s%s %.6g%s", passed ? "" : " not", rule->below ? "below" : "above",
            rule->or_equal ? " or at" : "", shown.factor * rule->bound, shown.unit);
    if (value.half > 0 && fabs(value.mean - rule->bound) <= value.half)
        fputs(" (the interval holds the bound: luck may turn it)", out);
    fputc('\n', out);
    return passed;
}

static enum status check_rule(const struct comparison *c, const struct gate_rule *rule, FILE *out,
                              bool *passed, struct diag *diag)
{
    struct target target;
    TRY(read_target(c, rule->metric, &target, diag));
    if (!has_layout(c, rule->layout)) return unknown_layout(c, rule->layout, diag);
    for (uint32_t layout = 0; layout < c->layout_count; layout++) {
        if (strcmp(c->stored->layouts[layout].name, rule->layout) != 0) continue;
        for (uint32_t i = 0; i < target.class_count; i++)
            *passed &= check_one(c, rule, &target, target.classes[i], layout, out);
    }
    return STATUS_OK;
}

enum status gates_check(const struct comparison *c, const struct gate_rule *rules, uint32_t count,
                        FILE *out, struct diag *diag)
{
    bool passed = true;
    for (uint32_t i = 0; i < count; i++) TRY(check_rule(c, &rules[i], out, &passed, diag));
    return passed ? STATUS_OK : STATUS_GATE;
}
