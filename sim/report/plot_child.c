/* plot_child.c - see plot_child.h. */
#include "report/plot_child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PICTURE_BYTES_MAX = 256 << 20, /* a picture is below 10 MB; more is not one */
    MESSAGE_BYTES = 600,           /* of gnuplot's complaint, enough for its first lines */
};

extern char **environ;

enum status plot_folder_make(char *folder, size_t folder_bytes, struct diag *diag)
{
    const char *base = getenv("TMPDIR");
    if (!base || base[0] != '/') base = "/tmp";
    const int length = snprintf(folder, folder_bytes, "%s/gpuplan-plot-XXXXXX", base);
    if (length < 0 || (size_t)length >= folder_bytes)
        return diag_world(diag, "the folder for temporary files has too long a name: %s", base);
    if (!mkdtemp(folder))
        return diag_world(diag, "no temporary folder in %s: %s", base, strerror(errno));
    return STATUS_OK;
}

void plot_folder_remove(const char *folder)
{
    DIR *entries = opendir(folder);
    if (!entries) return;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(entries), entry->d_name, 0);
    closedir(entries);
    rmdir(folder);
}

/* Our environment without what changes gnuplot's mind, in a locale that knows UTF-8. The list is
 * owned by the caller, its texts are not. */
static char **child_environment(void)
{
    static char locale[] = "LC_ALL=C.UTF-8";
    size_t count = 0;
    while (environ[count]) count++;
    char **list = calloc(count + 2, sizeof *list);
    if (!list) return NULL;
    size_t kept = 0;
    list[kept++] = locale;
    for (size_t i = 0; i < count; i++) {
        const bool drop =
            strncmp(environ[i], "GNU", 3) == 0 || strncmp(environ[i], "LC_", 3) == 0 ||
            strncmp(environ[i], "FIT_", 4) == 0 || strncmp(environ[i], "PAGER", 5) == 0;
        if (!drop) list[kept++] = environ[i];
    }
    return list;
}

/* Starts gnuplot with all output in files of the folder; 0 or an errno. */
static int start(const char *folder, pid_t *child)
{
    static char name[] = "gnuplot", defaults[] = "-d", script[] = "script.gp";
    char *const arguments[] = { name, defaults, script, NULL };
    char **environment = child_environment();
    posix_spawn_file_actions_t actions;
    if (!environment) return ENOMEM;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed) {
        free(environment);
        return failed;
    }
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    failed = posix_spawn_file_actions_addchdir_np(&actions, folder);
    if (!failed) failed = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!failed) failed = posix_spawn_file_actions_addopen(&actions, 1, "said", flags, 0600);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!failed) failed = posix_spawnp(child, name, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return failed;
}

/* What gnuplot printed, on one line. */
static void read_said(const char *folder, char *text, size_t text_bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/said", folder);
    text[0] = '\0';
    FILE *said = fopen(path, "re");
    if (!said) return;
    size_t count = fread(text, 1, text_bytes - 1, said);
    fclose(said);
    text[count] = '\0';
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) { /* runs of white space become one space */
        const bool space = text[i] == '\n' || text[i] == ' ' || text[i] == '\t';
        if (!space)
            text[kept++] = text[i];
        else if (kept > 0 && text[kept - 1] != ' ')
            text[kept++] = ' ';
    }
    text[kept] = '\0';
}

enum status plot_child_run(const char *folder, struct diag *diag)
{
    pid_t child = 0;
    int state = 0;
    const int failed = start(folder, &child);
    if (failed == ENOENT)
        return diag_world(diag, "gnuplot was not found in PATH: install the package gnuplot-nox");
    if (failed) return diag_world(diag, "gnuplot cannot be started: %s", strerror(failed));
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR) return diag_world(diag, "gnuplot was lost: %s", strerror(errno));
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return STATUS_OK;
    char said[MESSAGE_BYTES];
    read_said(folder, said, sizeof said);
    if (WIFSIGNALED(state))
        return diag_world(diag, "gnuplot was ended by signal %d; it said: %s", WTERMSIG(state),
                          said);
    return diag_world(diag, "gnuplot failed with status %d; it said: %s", WEXITSTATUS(state), said);
}

enum status plot_child_picture(const char *folder, char **bytes, size_t *count, struct diag *diag)
{
    char path[512];
    struct stat about;
    snprintf(path, sizeof path, "%s/picture", folder);
    *bytes = NULL;
    *count = 0;
    FILE *file = fopen(path, "re");
    if (!file || fstat(fileno(file), &about) != 0 || about.st_size <= 0 ||
        about.st_size > PICTURE_BYTES_MAX) {
        if (file) fclose(file);
        return diag_world(diag, "gnuplot left no picture");
    }
    const size_t size = (size_t)about.st_size;
    *bytes = malloc(size);
    if (*bytes && fread(*bytes, 1, size, file) == size) *count = size;
    fclose(file);
    if (*count == size) return STATUS_OK;
    free(*bytes);
    *bytes = NULL;
    return diag_world(diag, "the picture of gnuplot cannot be read back");
}
