/* short_names.c - see short_names.h. */
#include "report/short_names.h"

#include "report/prose.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum cut { CUT_END, CUT_MIDDLE, CUT_NUMBER };

static void cut_one(const struct comparison *c, uint32_t layout, unsigned columns, enum cut cut,
                    char out[LABEL_BYTES])
{
    char label[LABEL_BYTES], number[16];
    comparison_label(c, layout, label);
    if (cut != CUT_NUMBER) {
        prose_shorten(label, columns, cut == CUT_MIDDLE ? (columns - 3) / 2 : 0, out, LABEL_BYTES);
        return;
    }
    const int bytes = snprintf(number, sizeof number, "%" PRIu32 " ", layout + 1);
    memcpy(out, number, (size_t)bytes);
    prose_shorten(label, columns - (unsigned)bytes, 0, out + bytes, LABEL_BYTES - (size_t)bytes);
}

static bool are_alike(const struct comparison *c, const struct short_names *names)
{
    for (uint32_t i = 0; i < c->layout_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(names->name[i], names->name[j]) == 0) return true;
    return false;
}

void short_names_make(const struct comparison *c, unsigned columns, struct short_names *names)
{
    for (enum cut cut = CUT_END; cut <= CUT_NUMBER; cut++) {
        for (uint32_t i = 0; i < c->layout_count; i++) cut_one(c, i, columns, cut, names->name[i]);
        names->numbered = cut == CUT_NUMBER;
        if (!are_alike(c, names)) return;
    }
}
