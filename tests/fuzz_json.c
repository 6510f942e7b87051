/* fuzz_json.c - libFuzzer over the reader of JSON; make fuzz runs it. */
#include "tests/fuzz_targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    fuzz_json(bytes, count);
    return 0;
}
