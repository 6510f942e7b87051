/* input.c - read everything first, then look at the first bytes to see what it is. */
#include "io/input.h"

#include "base/limits.h"

#define XXH_INLINE_ALL
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

enum { BUFFER_BYTES_FIRST = 65536 };

struct buffer {
    char *bytes; /* owned; capacity leaves room for the closing NUL */
    size_t count, capacity;
};

static bool buffer_reserve(struct buffer *buffer, size_t free_bytes)
{
    size_t want = buffer->count + free_bytes;
    if (want <= buffer->capacity) return true;
    if (want < 2 * buffer->capacity) want = 2 * buffer->capacity;
    char *bytes = realloc(buffer->bytes, want + 1);
    if (bytes == NULL) return false;
    buffer->bytes = bytes;
    buffer->capacity = want;
    return true;
}

static enum status out_of_memory(const char *name, struct diag *diag)
{
    return diag_world(diag, "%s: not enough memory to hold it", name);
}

static enum status too_long(const char *name, struct diag *diag)
{
    return diag_error(diag, (struct place){ .file = name }, "longer than %d GiB",
                      (int)(LIMIT_INPUT_BYTES >> 30));
}

/* ---- reading ------------------------------------------------------------------------------- */

static enum status check_kind(const char *name, const struct stat *info, struct diag *diag)
{
    const struct place at = { .file = name };
    if (S_ISDIR(info->st_mode)) return diag_world_at(diag, at, "is a folder, not a file");
    if (S_ISCHR(info->st_mode) || S_ISBLK(info->st_mode))
        return diag_world_at(diag, at, "is a device; give a file, a pipe, or - for standard input");
    if (!S_ISREG(info->st_mode) && !S_ISFIFO(info->st_mode) && !S_ISSOCK(info->st_mode))
        return diag_world_at(diag, at, "is neither a file nor a pipe");
    if (S_ISREG(info->st_mode) && (uint64_t)info->st_size > LIMIT_INPUT_BYTES)
        return too_long(name, diag);
    return STATUS_OK;
}

static enum status read_all(int fd, const char *name, struct buffer *out, struct diag *diag)
{
    for (;;) {
        if (!buffer_reserve(out, BUFFER_BYTES_FIRST)) return out_of_memory(name, diag);
        const ssize_t got = read(fd, out->bytes + out->count, out->capacity - out->count);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return diag_world(diag, "%s: cannot be read: %s", name, strerror(errno));
        if (got == 0) return STATUS_OK;
        out->count += (size_t)got;
        if (out->count > LIMIT_INPUT_BYTES) return too_long(name, diag);
    }
}

static enum status read_fd(int fd, const char *name, bool is_stdin, struct buffer *out,
                           struct diag *diag)
{
    struct stat before, after;
    if (fstat(fd, &before) != 0) return diag_world(diag, "%s: %s", name, strerror(errno));
    /* Standard input may be a terminal: a log can be typed. */
    if (!(is_stdin && isatty(fd))) TRY(check_kind(name, &before, diag));
    const bool is_regular = S_ISREG(before.st_mode);
    if (is_regular && !buffer_reserve(out, (size_t)before.st_size + BUFFER_BYTES_FIRST))
        return out_of_memory(name, diag);
    TRY(read_all(fd, name, out, diag));
    if (!is_regular || is_stdin) return STATUS_OK;
    if (fstat(fd, &after) != 0) return diag_world(diag, "%s: %s", name, strerror(errno));
    if (after.st_size != before.st_size || (uint64_t)after.st_size != out->count)
        return diag_world_at(diag, (struct place){ .file = name },
                             "changed its length while it was read; copy it first");
    return STATUS_OK;
}

/* ---- unpacking ----------------------------------------------------------------------------- */

/* Looks at what a portion of packed bytes has become, so that a bomb ends long before memory does:
 * the ratio is that of the bytes so far, and zeros, the cheapest filling, are no text at all. */
static enum status check_portion(const struct input *input, const struct buffer *out, size_t before,
                                 size_t packed_bytes, struct diag *diag)
{
    if (out->count > LIMIT_INPUT_BYTES) return too_long(input->name, diag);
    const char *nul = memchr(out->bytes + before, '\0', out->count - before);
    if (nul != NULL)
        return diag_error(
            diag, place_in_text(input->name, out->bytes, out->count, (size_t)(nul - out->bytes), 1),
            "a NUL byte in the unpacked data; is this a text file?");
    if (out->count > LIMIT_EXPANSION_FREE_BYTES && out->count / LIMIT_EXPANSION > packed_bytes)
        return diag_error(
            diag, (struct place){ .file = input->name },
            "unpacks to more than %d times its length; unpack it by hand if it is meant",
            LIMIT_EXPANSION);
    return STATUS_OK;
}

static bool is_gzip(const char *bytes, size_t count)
{
    return count >= 2 && (unsigned char)bytes[0] == 0x1f && (unsigned char)bytes[1] == 0x8b;
}

static bool is_zstd(const char *bytes, size_t count)
{
    return count >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0;
}

static enum status broken(const char *name, const char *kind, const char *why, struct diag *diag)
{
    return diag_error(diag, (struct place){ .file = name }, "the %s data is damaged: %s", kind,
                      why);
}

/* What follows a finished gzip member: another one, padding zeros (tape), or something wrong. */
static enum status gzip_next(z_stream *stream, const struct input *input, const char *end,
                             bool *done, struct diag *diag)
{
    const char *rest = (const char *)stream->next_in;
    const size_t rest_bytes = (size_t)(end - rest);
    *done = true;
    if (is_gzip(rest, rest_bytes)) {
        *done = false;
        inflateReset(stream);
        return STATUS_OK;
    }
    for (size_t i = 0; i < rest_bytes; i++)
        if (rest[i] != '\0') return broken(input->name, "gzip", "something follows its end", diag);
    return STATUS_OK;
}

/* input->bytes are the packed ones here. zlib counts in 32 bits, so both sides go in portions. */
static enum status gzip_inflate(z_stream *stream, const struct input *input, struct buffer *out,
                                struct diag *diag)
{
    const char *const end = input->bytes + input->byte_count;
    stream->next_in = (Bytef *)input->bytes;
    for (bool done = false; !done;) {
        if (!buffer_reserve(out, BUFFER_BYTES_FIRST)) return out_of_memory(input->name, diag);
        const size_t left = (size_t)(end - (const char *)stream->next_in);
        const size_t room = out->capacity - out->count;
        const uInt give = left < (1u << 30) ? (uInt)left : 1u << 30;
        const uInt take = room < (1u << 30) ? (uInt)room : 1u << 30;
        stream->avail_in = give;
        stream->avail_out = take;
        stream->next_out = (Bytef *)out->bytes + out->count;
        const int result = inflate(stream, Z_NO_FLUSH);
        const size_t before = out->count;
        out->count += take - stream->avail_out;
        TRY(check_portion(input, out, before,
                          (size_t)((const char *)stream->next_in - input->bytes), diag));
        if (result == Z_STREAM_END)
            TRY(gzip_next(stream, input, end, &done, diag));
        else if (result == Z_MEM_ERROR)
            return out_of_memory(input->name, diag);
        else if (result == Z_BUF_ERROR) /* there was room, but nothing came in any more */
            return broken(input->name, "gzip", "it ends in the middle", diag);
        else if (result != Z_OK)
            return broken(input->name, "gzip", stream->msg ? stream->msg : "not a gzip stream",
                          diag);
    }
    return STATUS_OK;
}

static enum status unpack_gzip(const struct input *input, struct buffer *out, struct diag *diag)
{
    z_stream stream = { 0 };
    if (inflateInit2(&stream, 15 + 16) != Z_OK) return out_of_memory(input->name, diag);
    const enum status status = gzip_inflate(&stream, input, out, diag);
    inflateEnd(&stream);
    return status;
}

static enum status zstd_inflate(ZSTD_DStream *stream, const struct input *input, struct buffer *out,
                                struct diag *diag)
{
    ZSTD_inBuffer in = { .src = input->bytes, .size = input->byte_count };
    size_t left = 1;      /* bytes the open frame still wants; 0 at the end of a frame */
    bool is_full = false; /* the last portion filled its room: more may wait inside the stream */
    while (in.pos < in.size || is_full) {
        if (!buffer_reserve(out, BUFFER_BYTES_FIRST)) return out_of_memory(input->name, diag);
        ZSTD_outBuffer to = { .dst = out->bytes + out->count, .size = out->capacity - out->count };
        left = ZSTD_decompressStream(stream, &to, &in);
        if (ZSTD_isError(left)) return broken(input->name, "zstd", ZSTD_getErrorName(left), diag);
        const size_t before = out->count;
        out->count += to.pos;
        is_full = to.pos == to.size && left != 0;
        TRY(check_portion(input, out, before, in.pos, diag));
    }
    return left == 0 ? STATUS_OK : broken(input->name, "zstd", "it ends in the middle", diag);
}

static enum status unpack_zstd(const struct input *input, struct buffer *out, struct diag *diag)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (stream == NULL) return out_of_memory(input->name, diag);
    const enum status status = zstd_inflate(stream, input, out, diag);
    ZSTD_freeDStream(stream);
    return status;
}

static enum status unpack(struct input *input, struct diag *diag)
{
    const bool gzip = is_gzip(input->bytes, input->byte_count);
    if (!gzip && !is_zstd(input->bytes, input->byte_count)) return STATUS_OK;
    struct buffer out = { 0 };
    const enum status status =
        gzip ? unpack_gzip(input, &out, diag) : unpack_zstd(input, &out, diag);
    free(input->bytes);
    input->bytes = out.bytes;
    input->byte_count = out.count;
    return status;
}

/* ---- public -------------------------------------------------------------------------------- */

enum status input_read(const char *path, struct input *input, struct diag *diag)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    *input = (struct input){ .name = is_stdin ? "standard input" : path };
    const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return diag_world(diag, "%s: cannot be opened: %s", path, strerror(errno));
    struct buffer buffer = { 0 };
    const enum status status = read_fd(fd, input->name, is_stdin, &buffer, diag);
    if (!is_stdin) close(fd);
    input->bytes = buffer.bytes;
    input->byte_count = buffer.count;
    TRY(status);
    TRY(unpack(input, diag));
    input->bytes[input->byte_count] = '\0';
    input->digest = XXH3_64bits(input->bytes, input->byte_count);
    return STATUS_OK;
}

void input_clear(struct input *input)
{
    free(input->bytes);
    *input = (struct input){ 0 };
}
