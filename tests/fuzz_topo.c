/* fuzz_topo.c - libFuzzer over the reader of nvidia-smi topo -m; make fuzz runs it. */
#include "tests/fuzz_targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    fuzz_topo(bytes, count);
    return 0;
}
