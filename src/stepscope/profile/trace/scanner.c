/* The compiled scanner: the JSON of a torch trace to columns, in one pass, without an object per event.
 *
 * Plain C11 called through ctypes (scan_compiled.py), so that one build serves every Python. It is given the file in
 * pieces and takes whole events from each: what it has not consumed is given again, with more behind it. It never reads
 * outside a piece and believes nothing in it; any bytes at all may come (tests/profile/trace/test_scanner_safety.py runs
 * it under the address and undefined-behaviour sanitizers). An event that is no valid JSON is left to the caller.
 *
 * What a row and a column are is said in events.py; build.py is the same in plain Python, and the test of this.
 */
#include <math.h>
#ifdef __linux__
#include <malloc.h>
#endif
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

#define NONE 0xffffffffu
#define DEEPEST 900 /* nested lists and objects in one value */
#define MOST_CATS 65535u

enum { OK = 0, MORE = 1, BAD = 2, DONE = 3, MEMORY = 4, ALIEN = 5 }; /* what scanning came to */
enum { STRING, INTEGER, HUGE_INTEGER, REAL, TRUE_, FALSE_, NULL_, NESTED, MISSING };
enum { UNKNOWN, AS_INT, AS_FLOAT, AS_TEXT };

/* -- memory -------------------------------------------------------------------------------------------------------- */

/* Room for `more` items behind `len`; returns 0 when there is no memory. */
static int room(void **data, size_t *cap, size_t len, size_t more, size_t size) {
    if (len + more <= *cap) return 1;
    size_t wanted = *cap + *cap / 2 + 16;
    if (wanted < len + more) wanted = len + more;
    if (wanted > SIZE_MAX / 2 / size) return 0;
    void *grown = realloc(*data, wanted * size);
    if (!grown) return 0;
    *data = grown;
    *cap = wanted;
    return 1;
}
#define ROOM(array, cap, len, more) room((void **)&(array), &(cap), (len), (more), sizeof *(array))

typedef struct { u8 *data; size_t len, cap; } Bytes;

static int put(Bytes *to, const u8 *from, size_t n) {
    if (!ROOM(to->data, to->cap, to->len, n)) return 0;
    if (n) memcpy(to->data + to->len, from, n);
    to->len += n;
    return 1;
}

/* -- strings, each once -------------------------------------------------------------------------------------------- */

typedef struct {
    Bytes blob;
    u64 *ends;
    size_t ends_cap;
    u32 *hashes;
    size_t hashes_cap;
    u32 *slots; /* open addressing; an entry's number plus one */
    size_t n_slots;
    u32 count;
} Pool;

static u64 mixed(u64 a, u64 b) {
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    return (u64)product ^ (u64)(product >> 64);
#else
    a = (a ^ (a >> 32)) * b;
    return a ^ (a >> 29);
#endif
}

static u64 eight(const u8 *p) {
    u64 word;
    memcpy(&word, p, 8);
    return word;
}

/* memcmp() == 0 for what is mostly short: the call costs more than the comparison. */
static inline int same(const u8 *a, const u8 *b, size_t n) {
    if (n >= 8) {
        size_t at = 0;
        for (; at + 8 < n; at += 8)
            if (eight(a + at) != eight(b + at)) return 0;
        return eight(a + n - 8) == eight(b + n - 8);
    }
    for (size_t at = 0; at < n; at++)
        if (a[at] != b[at]) return 0;
    return 1;
}

static u32 hash_of(u64 seed, const u8 *p, size_t n) {
    u64 h = seed ^ (n * 0x9e3779b97f4a7c15u), tail = 0;
    const u8 *end = p + n;
    for (; end - p > 8; p += 8) h = mixed(h ^ eight(p), 0xd6e8feb86659fd93u);
    if (n >= 8) tail = eight(end - 8); /* may overlap what was taken: it is a hash */
    else for (; p < end; p++) tail = tail << 8 | *p;
    h = mixed(h ^ tail, 0xa0761d6478bd642fu);
    return (u32)(h ^ (h >> 32));
}

static int pool_grow(Pool *pool) {
    size_t wanted = pool->n_slots ? pool->n_slots * 2 : 256;
    u32 *slots = calloc(wanted, sizeof *slots);
    if (!slots) return 0;
    for (u32 i = 0; i < pool->count; i++) {
        size_t at = pool->hashes[i] & (wanted - 1);
        while (slots[at]) at = (at + 1) & (wanted - 1);
        slots[at] = i + 1;
    }
    free(pool->slots);
    pool->slots = slots;
    pool->n_slots = wanted;
    return 1;
}

static const u8 *pool_at(const Pool *pool, u32 i, size_t *n) {
    u64 from = i ? pool->ends[i - 1] : 0;
    *n = (size_t)(pool->ends[i] - from);
    return pool->blob.data + from;
}

/* The number of a string, in the order they came; NONE when there is no memory. */
static u32 pool_of(Pool *pool, u64 seed, const u8 *p, size_t n) {
    if ((size_t)pool->count * 2 >= pool->n_slots && !pool_grow(pool)) return NONE;
    u32 hash = hash_of(seed, p, n);
    size_t at = hash & (pool->n_slots - 1);
    for (; pool->slots[at]; at = (at + 1) & (pool->n_slots - 1)) {
        u32 i = pool->slots[at] - 1;
        if (pool->hashes[i] != hash) continue;
        size_t length;
        const u8 *there = pool_at(pool, i, &length);
        if (length == n && same(there, p, n)) return i;
    }
    if (pool->count >= 0x7fffffffu || !put(&pool->blob, p, n)) return NONE;
    if (!ROOM(pool->ends, pool->ends_cap, pool->count, 1)) return NONE;
    if (!ROOM(pool->hashes, pool->hashes_cap, pool->count, 1)) return NONE;
    pool->ends[pool->count] = pool->blob.len;
    pool->hashes[pool->count] = hash;
    pool->slots[at] = pool->count + 1;
    return pool->count++;
}

static void pool_free(Pool *pool) {
    free(pool->blob.data);
    free(pool->ends);
    free(pool->hashes);
    free(pool->slots);
}

/* -- what is built ------------------------------------------------------------------------------------------------- */

typedef struct {
    const u8 *p; /* in the piece; NULL when the text is in scratch, at `at` */
    size_t at, n;
    i64 whole;     /* of a number: its digits without the point, if there are at most 18 and no exponent */
    u8 kind;
    u8 escaped;    /* a string with backslashes */
    u8 simple;     /* `whole` holds */
    u8 decimals;   /* digits behind the point */
} Value;

typedef struct {
    int kind;
    u32 key;
    u32 leader; /* the column whose rows these are too, as far as this one goes */
    u32 *rows;
    size_t rows_cap;
    void *values; /* int32_t or i64, double or u32, by its kind */
    size_t size;  /* of one of them */
    size_t values_cap;
    size_t n;
    u64 last; /* the row that came last */
} Column;

typedef struct {
    int known; /* the kind events.py gives it, or UNKNOWN */
    int plain; /* its name stands in JSON as it is */
    u32 column, text_column;
    u32 next;  /* the key that followed it last time: usually it does again */
    u64 stamp; /* the event it was last seen in, and where in that event */
    size_t slot;
} Key;

/* Pieces of JSON, one behind the other, that the caller looks at in the end: there are few. */
typedef struct { Bytes blob; u64 *ends; size_t ends_cap; size_t count; } Pieces;

typedef struct { u32 key; Value value; } Argument;

typedef struct {
    /* read through ctypes: keep in step with _State in scan_compiled.py */
    i64 *start, *dur;
    u8 *ph;
    uint16_t *cat;
    u32 *name, *lane;
    u64 n, skipped, dropped, n_columns, consumed, in_events, has_events;
    /* ours */
    size_t cap;
    Pool cats, names, words, lanes, texts, keys;
    Pieces fields, metadata;
    Key *key;
    size_t key_cap;
    Column *columns;
    size_t columns_cap, most_columns;
    Argument *args;
    size_t n_args, args_cap;
    Bytes scratch;
    u64 seed, serial;
    u32 first_key, id_key, last_words[2], last_lane, last_cat;
    int state, nested;
} Scanner;

enum { BEGINNING, TOP, EVENTS, FINISHED };

/* -- tokens. Each returns OK with *pp behind it, MORE when the piece ends first, BAD when it is no JSON -------------- */

static const u8 *blank(const u8 *p, const u8 *end) {
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
    return p;
}

#define EACH(byte) ((u64)(byte) * 0x0101010101010101u)

/* Behind the opening quote; *pp ends behind the closing one. */
static inline int string_token(const u8 **pp, const u8 *end, Value *out) {
    const u8 *p = *pp, *begin = p;
    u8 escaped = 0;
    for (;;) {
#ifdef __SSE2__
        while (end - p >= 16) { /* sixteen bytes at once: a quote, a backslash or a control character among them? */
            __m128i word = _mm_loadu_si128((const __m128i *)p), low = _mm_set1_epi8(0x1f);
            __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(word, _mm_set1_epi8('"')), _mm_cmpeq_epi8(word, _mm_set1_epi8('\\')));
            int found = _mm_movemask_epi8(_mm_or_si128(hit, _mm_cmpeq_epi8(_mm_min_epu8(word, low), word)));
            if (found) {
                p += __builtin_ctz((unsigned)found);
                break;
            }
            p += 16;
        }
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        while (end - p >= 8) { /* eight bytes at once: a quote, a backslash or a control character among them? */
            u64 word = eight(p), quote = word ^ EACH('"'), slash = word ^ EACH('\\');
            u64 found = (((quote - EACH(1)) & ~quote) | ((slash - EACH(1)) & ~slash) | ((word - EACH(0x20)) & ~word)) & EACH(0x80);
            if (found) {
                p += __builtin_ctzll(found) >> 3;
                break;
            }
            p += 8;
        }
#endif
        while (p < end && *p != '"' && *p != '\\' && *p >= 0x20) p++;
        if (p >= end) return MORE;
        if (*p == '"') break;
        if (*p != '\\') return BAD;
        escaped = 1;
        if (end - p < 2) return MORE;
        if (p[1] == 'u') {
            for (int i = 2; i < 6; i++) {
                if (p + i >= end) return MORE;
                u8 c = p[i] | 0x20;
                if (!((p[i] >= '0' && p[i] <= '9') || (c >= 'a' && c <= 'f'))) return BAD;
            }
            p += 6;
        } else {
            if (!p[1] || !strchr("\"\\/bfnrt", p[1])) return BAD;
            p += 2;
        }
    }
    out->kind = STRING;
    out->p = begin;
    out->n = (size_t)(p - begin);
    out->escaped = escaped;
    *pp = p + 1;
    return OK;
}

static int word_token(const u8 **pp, const u8 *end, const char *word, int kind, Value *out) {
    const u8 *p = *pp;
    size_t n = strlen(word), have = (size_t)(end - p);
    if (memcmp(p, word, have < n ? have : n)) return BAD;
    if (have < n) return MORE;
    *out = (Value){.kind = (u8)kind, .p = p, .n = n};
    *pp = p + n;
    return OK;
}

static int is_digit(u8 c) { return c >= '0' && c <= '9'; }

/* A number runs until something that cannot be in it, so at the end of a piece there may be more of it. */
static inline int number_token(const u8 **pp, const u8 *end, Value *out) {
    const u8 *p = *pp, *begin = p, *point = NULL;
    int negative = *p == '-', real = 0;
    u64 whole = 0;
    if (negative && ++p >= end) return MORE;
    const u8 *first = p;
    for (; p < end && is_digit(*p); p++) whole = whole * 10 + (u64)(*p - '0'); /* wraps when it is long: see `simple` */
    if (p >= end) return MORE;
    if (p == first || (p - first > 1 && *first == '0')) return BAD;
    size_t digits = (size_t)(p - first);
    if (*p == '.') {
        point = p;
        for (p++; p < end && is_digit(*p); p++) whole = whole * 10 + (u64)(*p - '0');
        if (p >= end) return MORE;
        if (p == point + 1) return BAD;
        digits = (size_t)(p - first) - 1;
    }
    size_t decimals = point ? (size_t)(p - point) - 1 : 0;
    if (*p == 'e' || *p == 'E') {
        real = 1;
        if (++p >= end) return MORE;
        if (*p == '+' || *p == '-') p++;
        const u8 *after = p;
        while (p < end && is_digit(*p)) p++;
        if (p >= end) return MORE;
        if (p == after) return BAD;
    }
    u8 simple = !real && digits <= 18;
    int fits = simple || (digits == 19 && *first < '9') || (digits == 19 && whole <= (u64)INT64_MAX);
    out->kind = real || point ? REAL : fits ? INTEGER : HUGE_INTEGER;
    out->whole = simple || out->kind == INTEGER ? negative ? -(i64)whole : (i64)whole : 0;
    out->simple = simple;
    out->decimals = simple ? (u8)decimals : 0;
    out->escaped = 0;
    out->p = begin;
    out->n = (size_t)(p - begin);
    *pp = p;
    return OK;
}

static inline int scalar_token(const u8 **pp, const u8 *end, Value *out) {
    const u8 *p = *pp;
    switch (*p) {
    case '"': p++; { int found = string_token(&p, end, out); *pp = p; return found; }
    case 't': return word_token(pp, end, "true", TRUE_, out);
    case 'f': return word_token(pp, end, "false", FALSE_, out);
    case 'n': return word_token(pp, end, "null", NULL_, out);
    default: return *p == '-' || is_digit(*p) ? number_token(pp, end, out) : BAD;
    }
}

/* A list or an object. `spaced`: is it written as Python's json.dumps would, a space behind each comma and colon? */
static int nested_token(const u8 **pp, const u8 *end, int *spaced) {
    u8 objects[DEEPEST / 8 + 1]; /* a bit a level: is it an object */
    int depth = 0, found, tidy = 1, is_object = 0;
    const u8 *p = *pp, *at;
    Value value;
    enum { FIRST, NEXT, AFTER } place = FIRST;
    do {
        at = p;
        p = blank(p, end);
        if (p >= end) return MORE;
        tidy &= p - at == (place == NEXT) && (p == at || *at == ' ');
        if (depth && place != NEXT && *p == (is_object ? '}' : ']')) {
            p++;
            depth--;
            is_object = depth && (objects[(depth - 1) >> 3] >> ((depth - 1) & 7) & 1);
            place = AFTER;
            continue;
        }
        if (place == AFTER) {
            if (*p++ != ',') return BAD;
            place = NEXT;
            continue;
        }
        if (is_object) {
            if (*p++ != '"') return BAD;
            if ((found = string_token(&p, end, &value)) != OK) return found;
            at = p;
            p = blank(p, end);
            if (p >= end) return MORE;
            tidy &= p == at;
            if (*p++ != ':') return BAD;
            at = p;
            p = blank(p, end);
            if (p >= end) return MORE;
            tidy &= p == at + 1 && *at == ' ';
        }
        if (*p == '{' || *p == '[') {
            if (depth >= DEEPEST) return BAD;
            u8 bit = (u8)(1u << (depth & 7)), *bits = &objects[depth >> 3];
            is_object = *p++ == '{';
            *bits = (u8)((depth & 7 ? *bits & ~bit : 0) | (is_object ? bit : 0));
            depth++;
            place = FIRST;
            continue;
        }
        if ((found = scalar_token(&p, end, &value)) != OK) return found;
        place = AFTER;
    } while (depth);
    *spaced = tidy;
    *pp = p;
    return OK;
}

/* The same, as json.dumps spaces it: so the same value is the same text. It is known to be valid. */
static int put_spaced(Bytes *to, const u8 *p, const u8 *end) {
    while (p < end) {
        const u8 *begin = p;
        Value value;
        if (*p == '"') {
            p++;
            if (string_token(&p, end, &value) != OK) return BAD;
        } else {
            p++;
        }
        int is_blank = *begin == ' ' || *begin == '\n' || *begin == '\r' || *begin == '\t';
        if (!is_blank && !put(to, begin, (size_t)(p - begin))) return MEMORY;
        if ((*begin == ',' || *begin == ':') && !put(to, (const u8 *)" ", 1)) return MEMORY;
    }
    return OK;
}

/* Any value. The text of a list or an object goes to scratch if it is not spaced as it should be, and `to` is given. */
static inline int value_token(const u8 **pp, const u8 *end, Value *out, Bytes *to) {
    const u8 *begin = *pp;
    if (*begin != '{' && *begin != '[') return scalar_token(pp, end, out);
    int spaced = 1, found = nested_token(pp, end, &spaced);
    if (found != OK) return found;
    *out = (Value){.kind = NESTED, .p = begin, .n = (size_t)(*pp - begin)};
    if (spaced || !to) return OK;
    out->p = NULL;
    out->at = to->len;
    found = put_spaced(to, begin, *pp);
    out->n = to->len - out->at;
    return found;
}

/* -- texts and numbers of values ----------------------------------------------------------------------------------- */

static u32 hex4(const u8 *p) {
    u32 v = 0;
    for (int i = 0; i < 4; i++) v = v * 16 + (is_digit(p[i]) ? (u32)(p[i] - '0') : (u32)((p[i] | 0x20) - 'a' + 10));
    return v;
}

static size_t utf8(u32 c, u8 *to) {
    if (c < 0x80) { to[0] = (u8)c; return 1; }
    if (c < 0x800) { to[0] = (u8)(0xc0 | c >> 6); to[1] = (u8)(0x80 | (c & 63)); return 2; }
    if (c < 0x10000) { to[0] = (u8)(0xe0 | c >> 12); to[1] = (u8)(0x80 | (c >> 6 & 63)); to[2] = (u8)(0x80 | (c & 63)); return 3; }
    to[0] = (u8)(0xf0 | c >> 18); to[1] = (u8)(0x80 | (c >> 12 & 63)); to[2] = (u8)(0x80 | (c >> 6 & 63)); to[3] = (u8)(0x80 | (c & 63));
    return 4;
}

/* The text of a string without its escapes, into scratch. Half a surrogate pair becomes U+FFFD. */
static int unescape(Scanner *s, Value *value) {
    const u8 *p = value->p, *end = p + value->n;
    size_t at = s->scratch.len;
    while (p < end) {
        u8 four[4];
        if (*p != '\\') {
            const u8 *run = p;
            while (p < end && *p != '\\') p++;
            if (!put(&s->scratch, run, (size_t)(p - run))) return MEMORY;
            continue;
        }
        u32 c = p[1];
        p += 2;
        if (c == 'u') {
            c = hex4(p);
            p += 4;
            if (c >= 0xd800 && c < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' && hex4(p + 2) >> 10 == 0x37) {
                c = 0x10000 + ((c - 0xd800) << 10) + (hex4(p + 2) - 0xdc00);
                p += 6;
            } else if (c >= 0xd800 && c < 0xe000) {
                c = 0xfffd;
            }
        } else {
            c = c == 'b' ? '\b' : c == 'f' ? '\f' : c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
        }
        if (!put(&s->scratch, four, utf8(c, four))) return MEMORY;
    }
    value->p = NULL;
    value->at = at;
    value->n = s->scratch.len - at;
    value->escaped = 0;
    return OK;
}

static const u8 *text_of(const Scanner *s, const Value *value) {
    return value->p ? value->p : s->scratch.data ? s->scratch.data + value->at : (const u8 *)"";
}

static u32 interned(Scanner *s, Pool *pool, const Value *value) {
    if (value->kind == MISSING || value->kind == NULL_) return pool_of(pool, s->seed, (const u8 *)"", 0);
    return pool_of(pool, s->seed, text_of(s, value), value->n);
}

static const double TENS[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};

/* As strtod reads it; without it where both factors are exact. */
static double real_of(const Scanner *s, const Value *value) {
    if (value->simple && value->whole < 1LL << 53 && value->whole > -(1LL << 53))
        return value->whole || *text_of(s, value) != '-' ? (double)value->whole / TENS[value->decimals] : value->kind == INTEGER ? 0.0 : -0.0;
    const u8 *p = text_of(s, value);
    char small[64], *copy = value->n < sizeof small ? small : malloc(value->n + 1);
    if (!copy) return NAN;
    memcpy(copy, p, value->n);
    copy[value->n] = 0;
    double found = strtod(copy, NULL);
    if (copy != small) free(copy);
    return found;
}

/* Microseconds, as a number or a string of one, in nanoseconds; 0 when it is none. See ns_of in build.py. */
static int ns_of(const Scanner *s, const Value *value, i64 *ns) {
    static const i64 thousandth[] = {1000, 100, 10, 1};
    Value number = *value;
    if (value->kind == STRING) {
        const u8 *text = text_of(s, value);
        char copy[64];
        if (value->n == 0 || value->n >= sizeof copy - 1 || !(*text == '-' || is_digit(*text))) return 0;
        memcpy(copy, text, value->n);
        copy[value->n] = ' '; /* so that the number ends inside */
        const u8 *p = (const u8 *)copy, *end = p + value->n;
        if (number_token(&p, end + 1, &number) != OK || p != end) return 0;
        number.p = value->p;
        number.at = value->at;
    }
    if (number.kind == INTEGER) {
        if (number.whole >= 9000000000000000 || number.whole <= -9000000000000000) return 0;
        *ns = number.whole * 1000;
        return 1;
    }
    if (number.kind != REAL && number.kind != HUGE_INTEGER) return 0;
    if (number.simple && number.decimals <= 3 && number.whole < 8000000000000000 && number.whole > -8000000000000000) {
        *ns = number.whole * thousandth[number.decimals]; /* thousandths: exact as they stand */
        return 1;
    }
    double us = real_of(s, &number);
    if (!(us < 9e15 && us > -9e15)) return 0;
    double floored = floor(us);
    *ns = (i64)floored * 1000 + (i64)nearbyint((us - floored) * 1000.0);
    return 1;
}

/* -- columns of arguments ------------------------------------------------------------------------------------------ */

static u32 key_of(Scanner *s, const u8 *p, size_t n) {
    u32 known = s->keys.count, key = pool_of(&s->keys, s->seed, p, n);
    if (key == NONE || key < known) return key;
    if (!ROOM(s->key, s->key_cap, key, 1)) return NONE;
    int plain = 1;
    for (size_t i = 0; i < n; i++) plain &= p[i] >= 0x20 && p[i] != '"' && p[i] != '\\';
    s->key[key] = (Key){.known = UNKNOWN, .plain = plain, .column = NONE, .text_column = NONE, .next = NONE};
    return key;
}

static u32 new_column(Scanner *s, u32 key, int kind) {
    if (s->n_columns >= s->most_columns || !ROOM(s->columns, s->columns_cap, s->n_columns, 1)) return NONE;
    s->columns[s->n_columns] = (Column){.kind = kind, .key = key, .leader = NONE, .size = kind == AS_FLOAT ? 8 : 4};
    return (u32)s->n_columns++;
}

/* A place for row s->n. Arguments that came up together usually stay together: their rows are kept once. */
static int put_row(Scanner *s, u32 number, u32 before) {
    Column *c = &s->columns[number];
    u32 row = (u32)s->n;
    if (c->n == 0 && before != NONE && s->columns[before].n == 1 && s->columns[before].leader == NONE) c->leader = before;
    if (c->leader != NONE) {
        Column *first = &s->columns[c->leader];
        if (first->leader == NONE && c->n < first->n && first->rows[c->n] == row) return 1;
        if (!ROOM(c->rows, c->rows_cap, 0, c->n + 1)) return 0;
        if (c->n) memcpy(c->rows, first->rows, c->n * sizeof *c->rows);
        c->leader = NONE;
    }
    if (!ROOM(c->rows, c->rows_cap, c->n, 1)) return 0;
    c->rows[c->n] = row;
    return 1;
}

static int is_decimal(const u8 *p, size_t n, i64 *out) {
    size_t i = n && p[0] == '-';
    u64 whole = 0;
    if (n == i) return 0;
    for (; i < n; i++) {
        if (!is_digit(p[i]) || whole > (u64)INT64_MAX / 10) return 0;
        whole = whole * 10 + (u64)(p[i] - '0');
        if (whole > (u64)INT64_MAX) return 0;
    }
    *out = p[0] == '-' ? -(i64)whole : (i64)whole;
    return 1;
}

static int is_numeric(const Value *value) {
    return value->kind == INTEGER || value->kind == REAL || value->kind == HUGE_INTEGER;
}

/* What a value is kept as where the column's kind is `kind`, and the number it then is. */
static int fitted(const Scanner *s, const Value *value, int kind, i64 *whole, double *real) {
    const u8 *p = text_of(s, value);
    if (kind == AS_INT) {
        if (value->kind == INTEGER) { *whole = value->whole; return AS_INT; }
        if (value->kind == STRING && is_decimal(p, value->n, whole)) return AS_INT;
        if (value->kind != REAL) return AS_TEXT;
        *real = real_of(s, value);
        if (!(*real > -9.2e18 && *real < 9.2e18) || floor(*real) != *real) return AS_TEXT;
        *whole = (i64)*real;
        return AS_INT;
    }
    if (kind == AS_TEXT || !is_numeric(value)) return AS_TEXT;
    *real = real_of(s, value);
    return value->kind != REAL && isinf(*real) ? AS_TEXT : AS_FLOAT;
}

/* The column for values that do not fit: KEY (text). */
static u32 text_column(Scanner *s, u32 key) {
    if (s->key[key].text_column != NONE) return s->key[key].text_column;
    size_t n, at = s->scratch.len;
    const u8 *name = pool_at(&s->keys, key, &n);
    if (!put(&s->scratch, name, n) || !put(&s->scratch, (const u8 *)" (text)", 7)) return NONE;
    u32 other = key_of(s, s->scratch.data + at, n + 7);
    if (other == NONE) return NONE;
    if (s->key[other].column == NONE) s->key[other].column = new_column(s, other, AS_TEXT);
    return s->key[key].text_column = s->key[other].column;
}

/* Whole numbers are kept in four bytes until one needs eight. */
static int widen(Column *c) {
    i64 *wide = malloc((c->n + 16) * 2 * sizeof *wide);
    if (!wide) return 0;
    for (size_t i = 0; i < c->n; i++) wide[i] = ((int32_t *)c->values)[i];
    free(c->values);
    c->values = wide;
    c->values_cap = (c->n + 16) * 2;
    c->size = sizeof *wide;
    return 1;
}

static int put_argument(Scanner *s, u32 key, Value *value, u32 *before) {
    i64 whole = 0;
    double real = 0;
    int kind = s->key[key].known;
    if (kind == UNKNOWN && s->key[key].column != NONE) kind = s->columns[s->key[key].column].kind;
    if (kind == UNKNOWN) kind = is_numeric(value) ? AS_FLOAT : AS_TEXT;
    if (kind != AS_TEXT && value->kind == NULL_ && s->key[key].known) return OK;
    if (value->escaped && unescape(s, value) != OK) return MEMORY;
    int as = fitted(s, value, kind, &whole, &real);
    u32 number = s->key[key].column;
    if (as != kind) number = text_column(s, key);
    else if (number == NONE) number = s->key[key].column = new_column(s, key, kind);
    if (number == NONE || s->columns[number].kind != as) {
        s->dropped++;
        return OK;
    }
    Column *c = &s->columns[number];
    if (c->n && c->last == s->n) return OK; /* KEY (text) beside a KEY that does not fit */
    u32 text = as == AS_TEXT ? pool_of(&s->texts, s->seed, text_of(s, value), value->n) : 0;
    if (as == AS_INT && c->size == 4 && (whole > INT32_MAX || whole < INT32_MIN) && !widen(c)) return MEMORY;
    if (text == NONE || !room(&c->values, &c->values_cap, c->n, 1, c->size) || !put_row(s, number, *before)) return MEMORY;
    if (as == AS_TEXT) ((u32 *)c->values)[c->n] = text;
    else if (as == AS_FLOAT) ((double *)c->values)[c->n] = real;
    else if (c->size == 4) ((int32_t *)c->values)[c->n] = (int32_t)whole;
    else ((i64 *)c->values)[c->n] = whole;
    c->last = s->n;
    c->n++;
    *before = number;
    return OK;
}

/* -- events -------------------------------------------------------------------------------------------------------- */

enum { F_NAME, F_CAT, F_PH, F_PID, F_TID, F_TS, F_DUR, F_ID, F_ARGS, F_OTHER };

static int field_named(const u8 *p, size_t n) {
    if (n == 2) return !memcmp(p, "ph", 2) ? F_PH : !memcmp(p, "ts", 2) ? F_TS : !memcmp(p, "id", 2) ? F_ID : F_OTHER;
    if (n == 3) return !memcmp(p, "cat", 3) ? F_CAT : !memcmp(p, "pid", 3) ? F_PID : !memcmp(p, "tid", 3) ? F_TID : !memcmp(p, "dur", 3) ? F_DUR : F_OTHER;
    if (n == 4) return !memcmp(p, "name", 4) ? F_NAME : !memcmp(p, "args", 4) ? F_ARGS : F_OTHER;
    return F_OTHER;
}

/* The key of a member: its name into *name, *pp behind the colon and blanks, where its value begins. */
static int member_token(const u8 **pp, const u8 *end, Value *name) {
    const u8 *p = *pp;
    if (*p++ != '"') return BAD;
    int found = string_token(&p, end, name);
    if (found != OK) return found;
    p = blank(p, end);
    if (p >= end) return MORE;
    if (*p++ != ':') return BAD;
    p = blank(p, end);
    *pp = p;
    return p >= end ? MORE : OK;
}

/* Where `p` stands at a quote: is this the key we expect? */
static int is_key(const Scanner *s, u32 key, const u8 *p, const u8 *end) {
    size_t n;
    if (key == NONE || !s->key[key].plain) return 0;
    const u8 *name = pool_at(&s->keys, key, &n);
    return (size_t)(end - p) > n + 2 && p[n + 1] == '"' && same(p + 1, name, n);
}

static int arguments_token(Scanner *s, const u8 **pp, const u8 *end) {
    const u8 *p = *pp + 1;
    u32 expected = s->first_key, last = NONE;
    int found;
    s->n_args = 0;
    s->serial++;
    for (int first = 1;; first = 0) {
        p = blank(p, end);
        if (p >= end) return MORE;
        if (first && *p == '}') break;
        u32 key = expected;
        Value name;
        if (is_key(s, expected, p, end)) {
            size_t n;
            pool_at(&s->keys, expected, &n);
            p = blank(p + n + 2, end);
            if (p >= end) return MORE;
            if (*p++ != ':') return BAD;
            p = blank(p, end);
            if (p >= end) return MORE;
        } else {
            if ((found = member_token(&p, end, &name)) != OK) return found;
            if (name.escaped && unescape(s, &name) != OK) return MEMORY;
            if ((key = key_of(s, text_of(s, &name), name.n)) == NONE) return MEMORY;
            if (last == NONE) s->first_key = key;
            else s->key[last].next = key;
        }
        size_t slot = s->key[key].stamp == s->serial ? s->key[key].slot : s->n_args;
        if (slot == s->n_args) {
            if (!ROOM(s->args, s->args_cap, s->n_args, 1)) return MEMORY;
            s->n_args++;
            s->key[key].stamp = s->serial;
            s->key[key].slot = slot;
        }
        s->args[slot].key = key;
        if ((found = value_token(&p, end, &s->args[slot].value, &s->scratch)) != OK) return found;
        last = key;
        expected = s->key[key].next;
        p = blank(p, end);
        if (p >= end) return MORE;
        if (*p == '}') break;
        if (*p++ != ',') return BAD;
    }
    *pp = p + 1;
    return OK;
}

static int put_piece(Pieces *to, const u8 *p, size_t n) {
    if (!put(&to->blob, p, n) || !ROOM(to->ends, to->ends_cap, to->count, 1)) return 0;
    to->ends[to->count++] = to->blob.len;
    return 1;
}

static int grow_rows(Scanner *s) {
    size_t cap = s->cap;
    if (s->n < cap) return 1;
#define GROW(column) (cap = s->cap, ROOM(s->column, cap, s->n, 1))
    if (!(GROW(start) && GROW(dur) && GROW(ph) && GROW(cat) && GROW(name) && GROW(lane))) return 0;
    s->cap = cap;
    return s->n < 0x7fffffff;
}

/* Whether a value is this entry of a pool, as it was in the event before. */
static int is_entry(const Scanner *s, const Pool *pool, u32 entry, const Value *value) {
    size_t n;
    if (entry >= pool->count || value->kind == MISSING || value->kind == NULL_) return 0;
    const u8 *there = pool_at(pool, entry, &n);
    return n == value->n && n && same(there, text_of(s, value), n);
}

static u32 lane_of(Scanner *s, const Value *pid, const Value *tid) {
    if (s->lanes.count && is_entry(s, &s->words, s->last_words[0], pid) && is_entry(s, &s->words, s->last_words[1], tid)) return s->last_lane;
    u32 words[2] = {interned(s, &s->words, pid), interned(s, &s->words, tid)};
    if (words[0] == NONE || words[1] == NONE) return NONE;
    memcpy(s->last_words, words, sizeof words);
    return s->last_lane = pool_of(&s->lanes, s->seed, (const u8 *)words, sizeof words);
}

static u32 cat_of(Scanner *s, const Value *value) {
    if (!is_entry(s, &s->cats, s->last_cat, value)) s->last_cat = interned(s, &s->cats, value);
    return s->last_cat == NONE || s->last_cat < MOST_CATS ? s->last_cat : MOST_CATS;
}

static int put_event(Scanner *s, Value *field, const u8 *begin, const u8 *end) {
    for (int i = 0; i < F_ARGS; i++)
        if (field[i].escaped && unescape(s, &field[i]) != OK) return MEMORY;
    int has_letter = field[F_PH].kind != MISSING && field[F_PH].kind != NULL_ && field[F_PH].n;
    const u8 *letter = has_letter ? text_of(s, &field[F_PH]) : (const u8 *)"?";
    if (field[F_PH].kind == STRING && field[F_PH].n == 1 && *letter == 'M') return put_piece(&s->metadata, begin, (size_t)(end - begin)) ? OK : MEMORY;
    i64 start = 0, dur = 0;
    int timeless = field[F_TS].kind == MISSING || field[F_TS].kind == NULL_;
    int endless = field[F_DUR].kind == MISSING || field[F_DUR].kind == NULL_;
    if ((!timeless && !ns_of(s, &field[F_TS], &start)) || (!endless && !ns_of(s, &field[F_DUR], &dur))) {
        s->skipped++;
        return OK;
    }
    if (!grow_rows(s)) return MEMORY;
    u8 ph = *letter < 0x80 ? *letter : '?';
    u32 lane = lane_of(s, &field[F_PID], &field[F_TID]), cat = cat_of(s, &field[F_CAT]), name = interned(s, &s->names, &field[F_NAME]);
    if (lane == NONE || cat == NONE || name == NONE) return MEMORY;
    s->start[s->n] = start;
    s->dur[s->n] = endless && ph == 'B' ? -1 : dur;
    s->ph[s->n] = ph;
    s->cat[s->n] = (uint16_t)cat;
    s->name[s->n] = name;
    s->lane[s->n] = lane;
    u32 before = NONE;
    int has_id = field[F_ID].kind != MISSING && field[F_ID].kind != NULL_;
    if (has_id && !(s->n_args && s->key[s->id_key].stamp == s->serial) && put_argument(s, s->id_key, &field[F_ID], &before) != OK) return MEMORY;
    for (size_t i = 0; i < s->n_args; i++)
        if (put_argument(s, s->args[i].key, &s->args[i].value, &before) != OK) return MEMORY;
    s->n++;
    return OK;
}

/* Which field a key names, *pp behind its colon as by member_token. Most keys are short and plain: those at a glance. */
static inline int field_token(Scanner *s, const u8 **pp, const u8 *end, int *which) {
    const u8 *p = *pp;
    if (end - p > 8 && *p == '"') {
        size_t n = p[3] == '"' ? 2 : p[4] == '"' ? 3 : p[5] == '"' ? 4 : 0;
        *which = field_named(p + 1, n);
        if (*which != F_OTHER && p[n + 2] == ':') {
            p = p[n + 3] == ' ' ? p + n + 4 : p + n + 3;
            *pp = p = blank(p, end);
            return p >= end ? MORE : OK;
        }
    }
    Value name;
    int found = member_token(pp, end, &name);
    if (found != OK) return found;
    if (name.escaped && unescape(s, &name) != OK) return MEMORY;
    *which = field_named(text_of(s, &name), name.n);
    return OK;
}

static int event_token(Scanner *s, const u8 **pp, const u8 *end) {
    const u8 *p = *pp + 1;
    Value field[F_OTHER + 1];
    int found, which;
    for (int i = 0; i <= F_OTHER; i++) {
        field[i].kind = MISSING;
        field[i].escaped = 0;
    }
    s->scratch.len = 0;
    s->n_args = 0;
    for (int first = 1;; first = 0) {
        p = blank(p, end);
        if (p >= end) return MORE;
        if (first && *p == '}') break;
        if ((found = field_token(s, &p, end, &which)) != OK) return found;
        if (which == F_ARGS) {
            s->n_args = 0;
            found = *p == '{' ? arguments_token(s, &p, end) : value_token(&p, end, &field[F_OTHER], NULL);
        } else {
            found = value_token(&p, end, &field[which], which == F_OTHER ? NULL : &s->scratch);
        }
        if (found != OK) return found;
        p = blank(p, end);
        if (p >= end) return MORE;
        if (*p == '}') break;
        if (*p++ != ',') return BAD;
    }
    p++;
    if ((found = put_event(s, field, *pp, p)) == OK) *pp = p;
    return found;
}

/* -- the file ------------------------------------------------------------------------------------------------------ */

static const u8 *separators(const u8 *p, const u8 *end) {
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t' || *p == ',')) p++;
    return p;
}

/* A member of the outermost object: the list of events, or a field that the caller reads in the end. */
static int top_token(Scanner *s, const u8 **pp, const u8 *end) {
    const u8 *p = *pp;
    Value name, value;
    int found;
    if (*p == '}') {
        s->state = FINISHED;
        *pp = p + 1;
        return OK;
    }
    if ((found = member_token(&p, end, &name)) != OK) return found;
    if (*p == '[' && name.n == 11 && !memcmp(name.p, "traceEvents", 11)) {
        s->state = EVENTS;
        s->nested = 1;
        *pp = p + 1;
        return OK;
    }
    const u8 *begin = p;
    if ((found = value_token(&p, end, &value, NULL)) != OK) return found;
    if (p >= end) return MORE;
    if (!put_piece(&s->fields, name.p - 1, name.n + 2) || !put_piece(&s->fields, begin, (size_t)(p - begin))) return MEMORY;
    *pp = p;
    return OK;
}

static int element_token(Scanner *s, const u8 **pp, const u8 *end) {
    Value value;
    if (**pp == '{') return event_token(s, pp, end);
    if (**pp == ']') {
        s->state = s->nested ? TOP : FINISHED;
        s->has_events = 1;
        ++*pp;
        return OK;
    }
    int found = value_token(pp, end, &value, NULL);
    if (found == OK) s->skipped++;
    return found;
}

/* Take all whole events of a piece, from an offset. MORE: give what is behind s->consumed again, with more of the file.
 * BAD: what stands at s->consumed is no JSON; the caller repairs or skips it. DONE: the trace has ended. */
int ss_scan(Scanner *s, const u8 *piece, u64 from, u64 n) {
    const u8 *p = piece + from, *end = piece + n;
    int found = OK;
    while (found == OK) {
        p = s->state == BEGINNING ? blank(p, end) : separators(p, end);
        if (s->state == FINISHED) found = DONE;
        else if (p >= end) found = MORE;
        else if (s->state == BEGINNING) {
            if (*p != '{' && *p != '[') found = ALIEN;
            else s->state = *p++ == '{' ? TOP : EVENTS;
        } else {
            const u8 *at = p;
            found = s->state == TOP ? top_token(s, &at, end) : element_token(s, &at, end);
            if (found == OK) p = at;
        }
    }
    s->consumed = (u64)(p - piece);
    s->in_events = s->state == EVENTS;
    s->has_events |= s->in_events | (u64)s->nested;
    return found;
}

int ss_version(void) { return 7; }

Scanner *ss_new(u64 seed, u64 most_columns) {
    Scanner *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->seed = seed;
    s->most_columns = most_columns;
    s->first_key = NONE;
    s->serial = 1;
    if ((s->id_key = key_of(s, (const u8 *)"id", 2)) == NONE) {
        free(s);
        return NULL;
    }
    return s;
}

int ss_known(Scanner *s, const u8 *name, u64 n, int kind) {
    u32 key = key_of(s, name, (size_t)n);
    if (key == NONE) return MEMORY;
    s->key[key].known = kind;
    return OK;
}

static void shrink(void **data, size_t count, size_t size) {
    void *less = count ? realloc(*data, count * size) : NULL;
    if (less) *data = less;
}
#define SHRINK(array, count) shrink((void **)&(array), (count), sizeof *(array))

/* When all was scanned: keep only what the columns need, and give the rest back to the system. */
void ss_finish(Scanner *s) {
    Pool *pools[] = {&s->cats, &s->names, &s->words, &s->lanes, &s->texts, &s->keys};
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        free(pools[i]->slots);
        free(pools[i]->hashes);
        pools[i]->slots = NULL;
        pools[i]->hashes = NULL;
        pools[i]->n_slots = pools[i]->hashes_cap = 0;
        SHRINK(pools[i]->blob.data, pools[i]->blob.len);
    }
    SHRINK(s->start, s->n);
    SHRINK(s->dur, s->n);
    SHRINK(s->ph, s->n);
    SHRINK(s->cat, s->n);
    SHRINK(s->name, s->n);
    SHRINK(s->lane, s->n);
    s->cap = s->n;
    for (u64 i = 0; i < s->n_columns; i++) {
        Column *c = &s->columns[i];
        SHRINK(c->rows, c->leader == NONE ? c->n : 0);
        shrink(&c->values, c->n, c->size);
        c->rows_cap = c->values_cap = c->n;
    }
    s->state = FINISHED;
    free(s->scratch.data);
    free(s->args);
    s->scratch = (Bytes){0};
    s->args = NULL;
    s->n_args = s->args_cap = 0;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void ss_free(Scanner *s) {
    Pool *pools[] = {&s->cats, &s->names, &s->words, &s->lanes, &s->texts, &s->keys};
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) pool_free(pools[i]);
    for (u64 i = 0; i < s->n_columns; i++) {
        free(s->columns[i].rows);
        free(s->columns[i].values);
    }
    void *rest[] = {s->start, s->dur, s->ph, s->cat, s->name, s->lane, s->key, s->columns, s->args, s->scratch.data,
                    s->fields.blob.data, s->fields.ends, s->metadata.blob.data, s->metadata.ends, s};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) free(rest[i]);
}

typedef struct { const u8 *blob; const u64 *ends; u64 count; } Strings;

void ss_strings(const Scanner *s, int which, Strings *out) {
    const Pool *pools[] = {&s->cats, &s->names, &s->words, &s->lanes, &s->texts, &s->keys};
    const Pieces *pieces[] = {&s->fields, &s->metadata};
    if (which < 6) *out = (Strings){pools[which]->blob.data, pools[which]->ends, pools[which]->count};
    else *out = (Strings){pieces[which - 6]->blob.data, pieces[which - 6]->ends, pieces[which - 6]->count};
}

typedef struct { const u32 *rows; const void *values; u64 n; u32 key; int kind; u64 leader, size; } Sparse;

void ss_column(const Scanner *s, u64 number, Sparse *out) {
    const Column *c = &s->columns[number], *first = c->leader == NONE ? c : &s->columns[c->leader];
    *out = (Sparse){first->rows, c->values, c->n, c->key, c->kind, c->leader == NONE ? number : c->leader, c->size};
}

/* -- which span lies in which; nesting.py is the same in Python ---------------------------------------------------- */

static int before(const i64 *start, const i64 *dur, u32 a, u32 b) {
    return start[a] < start[b] || (start[a] == start[b] && (!dur || dur[a] >= dur[b]));
}

/* Stable: by start, longest first if durations are given. Runs that are in order already are kept, so a sorted lane costs one look. */
static void sort_lane(u32 *a, u32 *spare, size_t n, const i64 *start, const i64 *dur) {
    for (;;) {
        size_t runs = 0, from = 0;
        while (from < n) {
            size_t mid = from + 1;
            while (mid < n && before(start, dur, a[mid - 1], a[mid])) mid++;
            size_t to = mid < n ? mid + 1 : mid;
            while (to < n && before(start, dur, a[to - 1], a[to])) to++;
            size_t i = from, j = mid, k = from;
            runs++;
            if (mid < n) {
                while (i < mid && j < to) spare[k++] = before(start, dur, a[i], a[j]) ? a[i++] : a[j++];
                while (i < mid) spare[k++] = a[i++];
                while (j < to) spare[k++] = a[j++];
                memcpy(a + from, spare + from, (to - from) * sizeof *a);
            }
            from = to;
        }
        if (runs <= 1) return;
    }
}

/* Of the events in `rows` (all n events if it is NULL): for each the innermost that holds it, or -1. */
int ss_nest(u64 n, const u32 *rows, const u32 *lane, const i64 *start, const i64 *dur, int32_t *parent) {
    u32 lanes = 0;
    for (u64 i = 0; i < n; i++) {
        u32 one = lane[rows ? rows[i] : i];
        if (one == NONE) return BAD;
        if (one >= lanes) lanes = one + 1;
    }
    if (n == 0) return OK;
    if (n > INT32_MAX) return MEMORY;
    u64 *from = calloc((size_t)lanes + 1, sizeof *from);
    u32 *order = malloc(n * sizeof *order), *spare = malloc(n * sizeof *spare);
    i64 *ends = malloc(n * sizeof *ends);
    int found = from && order && spare && ends ? OK : MEMORY;
    if (found == OK) {
        for (u64 i = 0; i < n; i++) from[lane[rows ? rows[i] : i] + 1]++;
        for (u32 i = 0; i < lanes; i++) from[i + 1] += from[i];
        for (u64 i = 0; i < n; i++) {
            u32 row = rows ? rows[i] : (u32)i;
            order[from[lane[row]]++] = row;
        }
        for (u64 begin = 0; begin < n;) {
            u64 end = from[lane[order[begin]]]; /* has moved to the end of its lane */
            sort_lane(order + begin, spare, (size_t)(end - begin), start, dur);
            u32 *stack = spare; /* the spans that are open, outermost first, and where each ends in `ends` */
            size_t depth = 0;
            for (u64 i = begin; i < end; i++) {
                u32 row = order[i];
                i64 stop = (i64)((u64)start[row] + (u64)dur[row]);
                while (depth && ends[depth - 1] <= start[row]) depth--;
                parent[row] = depth ? (int32_t)stack[depth - 1] : -1;
                ends[depth] = depth && ends[depth - 1] < stop ? ends[depth - 1] : stop;
                stack[depth++] = row;
            }
            begin = end;
        }
    }
    free(from);
    free(order);
    free(spare);
    free(ends);
    return found;
}

/* The stretch each moment lies in, or -1; stretches ascend. Moments mostly lie where the one before did. */
void ss_within(u64 n, const i64 *moment, u64 m, const i64 *begin, const i64 *end, int16_t *out) {
    u64 at = 0; /* the first stretch that begins after the moment */
    for (u64 i = 0; i < n; i++) {
        if ((at && begin[at - 1] > moment[i]) || (at < m && begin[at] <= moment[i])) {
            u64 low = 0, high = m;
            while (low < high) {
                u64 middle = low + (high - low) / 2;
                if (begin[middle] <= moment[i]) low = middle + 1;
                else high = middle;
            }
            at = low;
        }
        out[i] = at && moment[i] < end[at - 1] ? (int16_t)(at - 1) : -1;
    }
}

/* Stable: the events in `rows` (all n events if it is NULL) by group, and by time within each. */
int ss_order(u64 n, const u32 *rows, u32 groups, const u32 *group, const i64 *start, u32 *order) {
    u64 *from = calloc((size_t)groups + 1, sizeof *from);
    u32 *spare = malloc((n ? n : 1) * sizeof *spare);
    int found = from && spare && n < NONE ? OK : MEMORY;
    for (u64 i = 0; found == OK && i < n; i++) {
        u32 one = group[rows ? rows[i] : i];
        if (one >= groups) found = BAD;
        else from[one + 1]++;
    }
    if (found == OK) {
        for (u32 i = 0; i < groups; i++) from[i + 1] += from[i];
        for (u64 i = 0; i < n; i++) {
            u32 row = rows ? rows[i] : (u32)i;
            order[from[group[row]]++] = row;
        }
        for (u64 begin = 0; begin < n;) {
            u64 end = from[group[order[begin]]];
            sort_lane(order + begin, spare, (size_t)(end - begin), start, NULL);
            begin = end;
        }
    }
    free(from);
    free(spare);
    return found;
}

/* In the order of ss_order: does an event begin before those of its group before it have ended? By more than `slack`, or
 * half its own length if that is less. */
int ss_late(u64 n, const u32 *order, u64 rows, const u32 *group, const i64 *start, const i64 *dur, i64 slack, u8 *late) {
    i64 until = 0;
    for (u64 i = 0; i < n; i++) {
        u32 row = order[i];
        if (row >= rows) return BAD;
        i64 end = (i64)((u64)start[row] + (u64)dur[row]), allowed = dur[row] / 2 < slack ? dur[row] / 2 : slack;
        int fresh = i == 0 || group[row] != group[order[i - 1]];
        late[i] = !fresh && (i64)((u64)until - (u64)start[row]) > allowed;
        until = fresh || end > until ? end : until;
    }
    return OK;
}

/* out[i] = table[index[i]], of entries of 1, 2, 4 or 8 bytes, without the wide copy of the index that numpy makes. */
int ss_take(u64 n, const u32 *index, const void *table, u64 entries, u32 size, void *out) {
    int outside = 0;
    for (u64 i = 0; i < n; i++) outside |= index[i] >= entries;
    if (outside) return BAD;
#define TAKE(type) for (u64 i = 0; i < n; i++) ((type *)out)[i] = ((const type *)table)[index[i]]
    if (size == 1) TAKE(u8);
    else if (size == 2) TAKE(uint16_t);
    else if (size == 4) TAKE(u32);
    else if (size == 8) TAKE(u64);
    else return BAD;
#undef TAKE
    return OK;
}

/* out[group[i]] = the most of value[i]; groups without any keep what they have. */
int ss_most(u64 n, const u32 *group, const int32_t *value, u64 groups, i64 *out) {
    for (u64 i = 0; i < n; i++) {
        if (group[i] >= groups) return BAD;
        if (value[i] > out[group[i]]) out[group[i]] = value[i];
    }
    return OK;
}

/* out[i] = table[index[i]], of entries of 4 bytes; `none` where the index is negative. */
int ss_take_or(u64 n, const int32_t *index, const int32_t *table, u64 entries, int32_t none, int32_t *out) {
    for (u64 i = 0; i < n; i++) {
        if (index[i] >= 0 && (u64)index[i] >= entries) return BAD;
        out[i] = index[i] < 0 ? none : table[index[i]];
    }
    return OK;
}

/* -- levels of detail of a timeline; pyramid.py is the same in numpy ------------------------------------------------- */

typedef struct { i64 *key, *dur, *busy; u32 *count, *longest; i64 *longest_dur; } Blocks;

static int begins_block(const Blocks *from, u64 i, u32 level) {
    i64 wide = (i64)1 << level;
    return i == 0 || from->key[i] >> level != from->key[i - 1] >> level || from->dur[i] >= wide || from->dur[i - 1] >= wide;
}

/* How many blocks `n` blocks become at a coarser level. */
u64 ss_blocks(u64 n, const Blocks *from, u32 level) {
    u64 found = 0;
    for (u64 i = 0; i < n; i++) found += (u64)begins_block(from, i, level);
    return found;
}

/* Those blocks. `to` has room for as many as ss_blocks says. */
void ss_merge(u64 n, const Blocks *from, u32 level, const Blocks *to) {
    u64 at = 0;
    i64 until = 0;
    for (u64 i = 0; i < n; i++) {
        i64 end = (i64)((u64)from->key[i] + (u64)from->dur[i]);
        if (begins_block(from, i, level)) {
            at += i > 0;
            to->key[at] = from->key[i];
            to->busy[at] = to->count[at] = 0;
            to->longest_dur[at] = -1;
            to->longest[at] = from->longest[i];
            until = end;
        }
        if (end > until) until = end;
        to->dur[at] = until - to->key[at];
        to->busy[at] += from->busy[i];
        to->count[at] += from->count ? from->count[i] : 1;
        if (from->longest_dur[i] > to->longest_dur[at]) {
            to->longest_dur[at] = from->longest_dur[i];
            to->longest[at] = from->longest[i];
        }
    }
}

/* -- questions about a forest of parents; ancestors.py is the same in numpy ----------------------------------------- */

/* For each event: itself if it is wanted, else its nearest ancestor that is, else -1. `above`: never itself. */
int ss_nearest(u64 n, const int32_t *parent, const u8 *wanted, int above, int32_t *found) {
    enum { OPEN = -2, ON_THE_WAY = -3 };
    for (u64 i = 0; i < n; i++) {
        if (parent[i] >= 0 && (u64)parent[i] >= n) return BAD;
        found[i] = OPEN;
    }
    for (u64 i = 0; i < n; i++) {
        int32_t row = (int32_t)i, answer = -1, up = parent[i];
        if (found[i] != OPEN) continue;
        if (wanted[i] || up < 0 || found[up] >= -1) { /* nearly always: parents come first */
            found[i] = wanted[i] ? row : up < 0 ? -1 : found[up];
            continue;
        }
        for (; row >= 0 && found[row] == OPEN && !wanted[row]; row = parent[row]) found[row] = ON_THE_WAY;
        if (row >= 0) answer = found[row] == OPEN ? row : found[row]; /* OPEN: it is wanted */
        if (answer == ON_THE_WAY) answer = -1; /* a ring, which no trace has */
        if (row >= 0 && found[row] == OPEN) found[row] = row;
        for (row = (int32_t)i; row >= 0 && found[row] == ON_THE_WAY; row = parent[row]) found[row] = answer;
    }
    for (u64 i = 0; above && i < n; i++) {
        int32_t up = parent[i];
        if (wanted[i]) found[i] = up >= 0 && !wanted[up] ? found[up] : up; /* of all others it is the same already */
    }
    return OK;
}

/* A call tree: spans with the same label whose parents are of one node are one node. `node`: of each span; `first`: of each
 * node the span it was first seen as. Returns how many there are, or -1. */
i64 ss_calls(u64 n, u64 seed, const int32_t *parent, const i64 *label, int32_t *node, u32 *first) {
    enum { OPEN = -1, ON_THE_WAY = -2 };
    Pool pool = {0};
    u32 *way = malloc((n ? n : 1) * sizeof *way);
    i64 made = way && n < INT32_MAX ? 0 : -1;
    for (u64 i = 0; made >= 0 && i < n; i++) node[i] = OPEN;
    for (u64 i = 0; made >= 0 && i < n; i++) {
        u64 deep = 0;
        int32_t row = (int32_t)i;
        for (; row >= 0 && (u64)row < n && node[row] == OPEN; row = parent[row]) {
            node[row] = ON_THE_WAY;
            way[deep++] = (u32)row;
        }
        i64 call[2] = {row >= 0 && (u64)row < n && node[row] >= 0 ? node[row] : -1, 0}; /* a ring, which no trace has: a root */
        while (deep && made >= 0) {
            u32 span = way[--deep];
            call[1] = label[span];
            u32 one = pool_of(&pool, seed, (const u8 *)call, sizeof call);
            if (one == NONE) made = -1;
            else if (one == made) first[made++] = span;
            call[0] = node[span] = (int32_t)one;
        }
    }
    pool_free(&pool);
    free(way);
    return made;
}

/* How many ancestors each event has. */
int ss_depths(u64 n, const int32_t *parent, int32_t *depth) {
    for (u64 i = 0; i < n; i++) {
        if (parent[i] >= 0 && (u64)parent[i] >= n) return BAD;
        depth[i] = -1;
    }
    for (u64 i = 0; i < n; i++) {
        int32_t row = (int32_t)i, way = 0;
        for (; row >= 0 && depth[row] == -1; row = parent[row], way++) depth[row] = -2;
        int32_t above = row < 0 ? -1 : depth[row] < 0 ? 0 : depth[row];
        way += above;
        for (row = (int32_t)i; row >= 0 && depth[row] == -2; row = parent[row]) depth[row] = way--;
    }
    return OK;
}
