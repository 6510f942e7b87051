/* scenario.c - gives back what a scenario owns. */
#include "spec/scenario.h"

#include <stdlib.h>

void scenario_clear(struct scenario *scenario)
{
    free(scenario->text);
    free(scenario->overrides);
    free(scenario->resolved);
    scenario->text = scenario->overrides = scenario->resolved = NULL;
}
