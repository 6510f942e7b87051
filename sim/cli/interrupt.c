/* interrupt.c - see interrupt.h. The handler calls only what POSIX allows in one: write, signal, raise. */
#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t resumable;

static void say_and_end(int number)
{
    static const char line[] = "\ngpuplan: interrupted; go on with --resume\n";
    if (resumable) (void)!write(STDERR_FILENO, line, sizeof line - 1);
    signal(number, SIG_DFL);
    raise(number);
}

void interrupt_watch(void)
{
    static const int numbers[] = { SIGINT, SIGTERM };
    for (int i = 0; i < 2; i++) {
        struct sigaction before, now = { .sa_handler = say_and_end };
        if (sigaction(numbers[i], NULL, &before) != 0 || before.sa_handler == SIG_IGN) continue;
        sigemptyset(&now.sa_mask);
        (void)sigaction(numbers[i], &now, NULL);
    }
}

void interrupt_resumable(void)
{
    resumable = 1;
}

void interrupt_over(void)
{
    resumable = 0;
}
