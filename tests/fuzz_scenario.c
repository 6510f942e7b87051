/* fuzz_scenario.c - libFuzzer over the reader of a scenario; make fuzz runs it. */
#include "tests/fuzz_targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    fuzz_scenario(bytes, count);
    return 0;
}
