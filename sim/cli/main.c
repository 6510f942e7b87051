/* main.c - the frame around a command: signals, standard streams, problems, exit code.
 *
 * setlocale is never called: numbers keep their point in any locale (P43). */
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A stream that was closed by the caller would give its number to the next file opened, and a
 * message would then be written into a database. */
static void keep_standard_streams_open(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
}

static bool reader_of_stdout_has_gone(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

/* A closed pipe ends quietly; a full disk does not (P99). */
static enum status flush_stdout(struct diag *diag)
{
    errno = 0;
    const bool failed = fflush(stdout) != 0 || ferror(stdout);
    if (!failed || errno == EPIPE || reader_of_stdout_has_gone()) return STATUS_OK;
    return diag_world(diag, "cannot write to standard output: %s",
                      errno ? strerror(errno) : "an earlier write failed");
}

static enum status answer(struct cli *cli, int argc, char **argv)
{
    enum cli_request request;
    TRY(cli_parse(cli, argc, argv, &request));
    if (request == CLI_HELP) {
        cli_print_help(cli->command, stdout);
        return STATUS_OK;
    }
    return request == CLI_VERSION ? command_version.run(cli) : cli->command->run(cli);
}

int main(int argc, char **argv)
{
    keep_standard_streams_open();
    signal(SIGPIPE, SIG_IGN); /* writes fail instead: results on disk are still finished */
    signal(SIGXFSZ,
           SIG_IGN); /* a file-size limit is a full disk: it is said, with the path (P99) */
    gsl_set_error_handler_off();

    static struct cli cli;
    cli.diag = diag_create();
    if (cli.diag == NULL) {
        fputs("gpuplan: out of memory\n", stderr);
        return STATUS_WORLD;
    }
    enum status status = answer(&cli, argc, argv);
    const enum status flushed = flush_stdout(cli.diag);
    if (status == STATUS_OK) status = flushed;
    if (status == STATUS_OK) status = diag_status(cli.diag);
    diag_print(cli.diag, stderr);
    diag_destroy(cli.diag);
    return (int)status;
}
