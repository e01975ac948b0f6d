/* Feeds the scanner what no trace holds, in pieces that are allocated to the byte, under the sanitizers.
 * usage: fuzz_scanner TRACE SECONDS; exit 0: nothing was read or written outside its place, nothing leaked. */
#include "../../../src/stepscope/profile/trace/scanner.c"

#include <stdio.h>
#include <time.h>

static u64 dice = 88172645463325252u;

static u64 roll(u64 sides) {
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice % sides;
}

static u64 touched;

static void look_at_all(Scanner *s) {
    for (int which = 0; which < 8; which++) {
        Strings strings;
        ss_strings(s, which, &strings);
        for (u64 i = 0; i < (strings.count ? strings.ends[strings.count - 1] : 0); i++) touched += strings.blob[i];
    }
    for (u64 i = 0; i < s->n_columns; i++) {
        Sparse column;
        ss_column(s, i, &column);
        for (u64 k = 0; k < column.n; k++) {
            if (column.rows[k] >= s->n || (k && column.rows[k] <= column.rows[k - 1])) abort();
            if (column.kind == AS_TEXT && ((const u32 *)column.values)[k] >= s->texts.count) abort();
        }
    }
    for (u64 i = 0; i < s->n; i++)
        if (s->cat[i] > s->cats.count || s->name[i] >= s->names.count || s->lane[i] >= s->lanes.count) abort();
    if (s->n) {
        int32_t *parent = malloc(s->n * sizeof *parent);
        if (!parent || ss_nest(s->n, NULL, s->lane, s->start, s->dur, parent) != OK) abort();
        for (u64 i = 0; i < s->n; i++) if (parent[i] >= (i64)s->n || parent[i] == (i64)i) abort();
        free(parent);
    }
}

static void scan(const u8 *data, size_t n) {
    Scanner *s = ss_new(roll(1000), 40);
    ss_known(s, (const u8 *)"External id", 11, AS_INT);
    ss_known(s, (const u8 *)"stream", 6, AS_INT);
    ss_known(s, (const u8 *)"Input Dims", 10, AS_TEXT);
    size_t from = 0, to = 0;
    for (;;) {
        size_t more = roll(4) ? n - to : roll(n - to + 1);
        to += more;
        u8 *piece = malloc(to - from ? to - from : 1);
        if (!piece) abort();
        memcpy(piece, data + from, to - from);
        u64 at = 0;
        int found;
        while ((found = ss_scan(s, piece, at, to - from)) == BAD) {
            if (s->consumed < at) abort();
            at = s->consumed + 1;
            if (at > to - from) break;
        }
        free(piece);
        from += s->consumed < to - from ? s->consumed : to - from;
        if (found != MORE || to == n) break;
    }
    if (roll(2)) ss_finish(s);
    look_at_all(s);
    ss_free(s);
}

static const char *scraps[] = {"{", "}", "[", "]", "\"", "\\", ",", ":", "\\ud83d\\ude00", "\\ud800", "\\u00", "1e999", "-", "-0", "0.",
    "99999999999999999999999999999999", "-9223372036854775808", "9223372036854775807", "1e-400", "0.1234567890123456789", "null", "true", "tru", "\"args\":{",
    "\"ts\":", "\"dur\":1.0005", "\"id\":\"0x\"", "\"ph\":\"M\"", "\"External id\":\"12\"", "\"External id\":1.5", "\"stream\":null", "\xff\xfe", "\xc3", " (text)",
    "{\"ph\":\"X\",\"ts\":1,\"args\":{\"a\":[{\"b\":", "\"traceEvents\":[", "\"stream (text)\":1", "NaN", "1.e5", "01"};

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    FILE *file = fopen(argv[1], "rb");
    if (!file) return 2;
    static u8 seed[1 << 16], data[1 << 18];
    size_t n = fread(seed, 1, sizeof seed, file);
    fclose(file);
    for (size_t cut = 0; cut <= n && cut < 6000; cut++) scan(seed, cut);
    for (size_t depth = 100; depth < 100000; depth *= 3) { /* deeper than any stack, on purpose */
        for (size_t i = 0; i < depth; i++) data[i] = i % 2 ? '[' : (u8)"[{"[i % 3 == 0];
        scan(data, depth);
        memcpy(data, "[{\"args\":{\"a\":", 14);
        memset(data + 14, '[', depth);
        scan(data, depth + 14);
    }
    memset(data, 0, 4096);
    scan(data, 4096);
    time_t end = time(NULL) + atoi(argv[2]);
    u64 rounds = 0;
    for (; time(NULL) < end; rounds++) {
        size_t size = n;
        memcpy(data, seed, n);
        if (roll(10) == 0) for (size_t i = size = (size_t)roll(400); i--;) data[i] = (u8)roll(256);
        for (u64 edits = 1 + roll(8); edits--;) {
            size_t at = (size_t)roll(size + 1);
            const char *scrap = scraps[roll(sizeof scraps / sizeof *scraps)];
            size_t length = strlen(scrap), gone = (size_t)roll(4) ? 0 : (size_t)roll(size - at + 1) % 40;
            if (size + length > sizeof data) break;
            memmove(data + at + length, data + at + gone, size - at - gone);
            memcpy(data + at, scrap, length);
            size = size - gone + length;
            if (size && roll(3) == 0) data[roll(size)] = (u8)roll(256);
        }
        scan(data, size);
    }
    printf("%llu rounds\n", (unsigned long long)rounds);
    return touched == 1; /* never: but it must be looked at */
}
