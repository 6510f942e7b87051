/* fuzz_flows.c - libFuzzer over the reader of a network and its flows; make fuzz runs it. */
#include "tests/fuzz_targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    fuzz_flows(bytes, count);
    return 0;
}
