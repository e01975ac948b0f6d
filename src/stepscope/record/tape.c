/* What `tape.py` and `ghosts.py` do around every op and every autograd node, for the cases that are common.
 *
 * The list that is written is the same; each function here says which Python method it stands for, and hands what is
 * uncommon to one of them. Nothing is kept alive: ghosts hold weak references. Errors are raised to the caller, the
 * mode of events/operations.c or `EngineTape`, which reports them; the list is cut back to where it was before. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <string.h>
#include <structmember.h>

#define VERSION 4
enum { BEGIN, END, FAIL, MODULE, LEAVE, ENGINE, ENGINE_END, NODE, NODE_END };
enum { MOST_SIMPLE = 16 };
#define LEAF_NUMBER (1ULL << 63) /* all leaves share one sequence number, the largest there is */

/* Of Python's and torch's, given by `configure`. */
static PyTypeObject *ghost_class, *tensor_type, *parameter_type;
static PyObject *users, *place_of, *read_only, *clock_ns, *is_packing, *is_custom, *kinds, *ghost_kind, *disabled;
static PyObject *strided, *dispatch_modes, *transform, *aminmax, *is_grad_enabled, *set_grad_enabled;
static PyTypeObject *simple[MOST_SIMPLE];
static Py_ssize_t simple_count;
static PyObject *small[16], *no_look;

static PyObject *s_version, *s_dtype, *s_device, *s_requires_grad, *s_storage, *s_cdata, *s_shape, *s_is_contiguous,
    *s_stride, *s_describe, *s_nbytes, *s_is_parameter, *s_grad_fn, *s_output_nr, *s_begin_any, *s_end_any,
    *s_look_again, *s_sequence, *s_next, *s_variable, *s_kept_by, *s_grad, *s_enter, *s_exit, *s_lasti, *s_end, *s_off,
    *s_fault, *s_see, *s_see_sum, *s_is_float, *s_is_cpu, *s_layout, *s_item, *s_numel, *s_is_view;

/* Ghosts */

typedef struct {
    PyObject_HEAD
    PyObject *ref, *kind, *dtype, *device, *requires_grad, *cdata, *size;
    PyObject *grad, *grad_fn, *looked, *last, *bad, *layout, *output_nr, *strides, *version;
    PyObject *weak;
} Ghost;

static int ghost_traverse(Ghost *self, visitproc visit, void *arg) {
    Py_VISIT(self->ref);
    Py_VISIT(self->kind);
    Py_VISIT(self->size);
    Py_VISIT(self->grad);
    Py_VISIT(self->grad_fn);
    Py_VISIT(self->looked);
    Py_VISIT(self->last);
    return 0;
}

static int ghost_clear(Ghost *self) {
    PyObject **fields[] = {&self->ref, &self->kind, &self->dtype, &self->device, &self->requires_grad, &self->cdata,
                           &self->size, &self->grad, &self->grad_fn, &self->looked, &self->last, &self->bad,
                           &self->layout, &self->output_nr, &self->strides, &self->version};
    for (size_t place = 0; place < sizeof fields / sizeof *fields; place++) Py_CLEAR(*fields[place]);
    return 0;
}

static void ghost_dealloc(Ghost *self) {
    PyObject_GC_UnTrack(self);
    if (self->weak != NULL) PyObject_ClearWeakRefs((PyObject *)self);
    ghost_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *new_ref(PyObject *value) {
    Py_INCREF(value);
    return value;
}

/* What has a storage and a shape; -1 with RuntimeError where a tensor has not. */
static int read_storage(Ghost *self, PyObject *tensor, PyObject **storage) {
    *storage = PyObject_CallMethodNoArgs(tensor, s_storage);
    if (*storage == NULL || (self->cdata = PyObject_GetAttr(*storage, s_cdata)) == NULL) return -1;
    if ((self->size = PyObject_GetAttr(tensor, s_shape)) == NULL) return -1;
    PyObject *contiguous = PyObject_CallMethodNoArgs(tensor, s_is_contiguous);
    if (contiguous == NULL) return -1;
    int yes = contiguous == Py_True;
    Py_DECREF(contiguous);
    if (!yes && (self->strides = PyObject_CallMethodNoArgs(tensor, s_stride)) == NULL) return -1;
    return 0;
}

/* Ghost.__init__; `storage` gets a new reference, or NULL where the tensor has none. */
static int ghost_fill(Ghost *self, PyObject *tensor, PyObject **storage) {
    ghost_clear(self);
    *storage = NULL;
    self->kind = new_ref((PyObject *)Py_TYPE(tensor));
    self->looked = new_ref(no_look);
    self->bad = new_ref(Py_False);
    self->output_nr = new_ref(small[0]);
    if ((self->ref = PyWeakref_NewRef(tensor, NULL)) == NULL) return -1;
    if ((self->dtype = PyObject_GetAttr(tensor, s_dtype)) == NULL) return -1;
    if ((self->device = PyObject_GetAttr(tensor, s_device)) == NULL) return -1;
    if ((self->requires_grad = PyObject_GetAttr(tensor, s_requires_grad)) == NULL) return -1;
    if (read_storage(self, tensor, storage) == 0) return 0;
    Py_CLEAR(*storage);
    if (!PyErr_ExceptionMatches(PyExc_RuntimeError)) return -1;
    PyErr_Clear();
    Py_CLEAR(self->cdata);
    Py_CLEAR(self->strides);
    PyObject *done = PyObject_CallMethodOneArg((PyObject *)self, s_describe, tensor);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

static int ghost_init(Ghost *self, PyObject *args, PyObject *kwargs) {
    PyObject *tensor, *storage;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O", &tensor)) return -1;
    int done = ghost_fill(self, tensor, &storage);
    Py_XDECREF(storage);
    return done;
}

#define FIELD(name, field) {name, T_OBJECT, offsetof(Ghost, field), 0, NULL}
static PyMemberDef ghost_members[] = {
    FIELD("ref", ref), FIELD("kind", kind), FIELD("dtype", dtype), FIELD("device", device),
    FIELD("requires_grad", requires_grad), FIELD("_cdata", cdata), FIELD("_size", size), FIELD("grad", grad),
    FIELD("grad_fn", grad_fn), FIELD("looked", looked), FIELD("last", last), FIELD("bad", bad),
    FIELD("layout", layout), FIELD("output_nr", output_nr), FIELD("strides", strides), FIELD("version", version),
    {NULL, 0, 0, 0, NULL},
};
#undef FIELD

static PyTypeObject ghost_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "stepscope.record._tape.Ghost",
    .tp_basicsize = sizeof(Ghost),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)ghost_init,
    .tp_dealloc = (destructor)ghost_dealloc,
    .tp_traverse = (traverseproc)ghost_traverse,
    .tp_clear = (inquiry)ghost_clear,
    .tp_members = ghost_members,
    .tp_weaklistoffset = offsetof(Ghost, weak),
};

/* Whether a weak reference is to this object. */
static int is_of(PyObject *ref, PyObject *object) {
    if (ref == NULL || !PyWeakref_Check(ref)) return 0;
#if PY_VERSION_HEX >= 0x030d0000
    PyObject *found = NULL;
    if (PyWeakref_GetRef(ref, &found) < 0) PyErr_Clear();
    int same = found == object;
    Py_XDECREF(found);
    return same;
#else
    return PyWeakref_GetObject(ref) == object;
#endif
}

static int is_alive(PyObject *ref) {
#if PY_VERSION_HEX >= 0x030d0000
    PyObject *found = NULL;
    int alive = PyWeakref_GetRef(ref, &found);
    Py_XDECREF(found);
    return alive;
#else
    return PyWeakref_GetObject(ref) != Py_None;
#endif
}

/* Ghosts of autograd nodes */

typedef struct {
    PyObject_HEAD
    PyObject *sequence, *saved_bytes, *variable, *behind;
    char seen, early;
} GhostNode;

static int node_traverse(GhostNode *self, visitproc visit, void *arg) {
    Py_VISIT(self->variable);
    Py_VISIT(self->behind);
    return 0;
}

static int node_clear(GhostNode *self) {
    Py_CLEAR(self->sequence);
    Py_CLEAR(self->saved_bytes);
    Py_CLEAR(self->variable);
    Py_CLEAR(self->behind);
    return 0;
}

static void node_dealloc(GhostNode *self) {
    PyObject_GC_UnTrack(self);
    node_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int node_fill(GhostNode *self, PyObject *sequence, int seen) {
    Py_XSETREF(self->sequence, new_ref(sequence));
    Py_XSETREF(self->saved_bytes, new_ref(small[0]));
    Py_XSETREF(self->behind, PyTuple_New(0));
    self->seen = (char)seen;
    return self->behind == NULL ? -1 : 0;
}

static int node_init(GhostNode *self, PyObject *args, PyObject *kwargs) {
    PyObject *sequence;
    int seen;
    (void)kwargs;
    return PyArg_ParseTuple(args, "Op", &sequence, &seen) ? node_fill(self, sequence, seen) : -1;
}

static PyMemberDef node_members[] = {
    {"sequence", T_OBJECT, offsetof(GhostNode, sequence), 0, NULL},
    {"saved_bytes", T_OBJECT, offsetof(GhostNode, saved_bytes), 0, NULL},
    {"variable", T_OBJECT, offsetof(GhostNode, variable), 0, NULL},
    {"behind", T_OBJECT, offsetof(GhostNode, behind), 0, NULL},
    {"seen", T_BOOL, offsetof(GhostNode, seen), 0, NULL},
    {"early", T_BOOL, offsetof(GhostNode, early), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyTypeObject node_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "stepscope.record._tape.GhostNode",
    .tp_basicsize = sizeof(GhostNode),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)node_init,
    .tp_dealloc = (destructor)node_dealloc,
    .tp_traverse = (traverseproc)node_traverse,
    .tp_clear = (inquiry)node_clear,
    .tp_members = node_members,
};

/* The tape */

typedef struct {
    PyObject_HEAD
    PyObject *events, *known, *nodes, *leaves, *counter, *lives, *gone, *storages, *looks, *left;
    long long expected, first;
    unsigned long thread;
    char strangers, packed, is_placed, timed, in_step;
} Tape;

static PyObject *node_of(Tape *self, PyObject *node, unsigned long long since, PyObject *fresh);

static int tape_traverse(Tape *self, visitproc visit, void *arg) {
    Py_VISIT(self->events);
    Py_VISIT(self->known);
    Py_VISIT(self->nodes);
    Py_VISIT(self->leaves);
    Py_VISIT(self->counter);
    Py_VISIT(self->lives);
    Py_VISIT(self->gone);
    Py_VISIT(self->storages);
    Py_VISIT(self->looks);
    Py_VISIT(self->left);
    return 0;
}

static int tape_clear(Tape *self) {
    Py_CLEAR(self->events);
    Py_CLEAR(self->known);
    Py_CLEAR(self->nodes);
    Py_CLEAR(self->leaves);
    Py_CLEAR(self->counter);
    Py_CLEAR(self->lives);
    Py_CLEAR(self->gone);
    Py_CLEAR(self->storages);
    Py_CLEAR(self->looks);
    Py_CLEAR(self->left);
    return 0;
}

static void tape_dealloc(Tape *self) {
    PyObject_GC_UnTrack(self);
    tape_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int is_ready(Tape *self) {
    if (self->events != NULL && PyList_CheckExact(self->events) && self->known != NULL &&
        PyDict_CheckExact(self->known) && self->storages != NULL && PyDict_CheckExact(self->storages) &&
        self->nodes != NULL && PyDict_CheckExact(self->nodes) && self->leaves != NULL &&
        PyDict_CheckExact(self->leaves) && self->counter != NULL && ghost_class != NULL)
        return 1;
    PyErr_SetString(PyExc_TypeError, "the tape has no lists yet");
    return 0;
}

/* Append, and let go of the reference. */
static int put(PyObject *list, PyObject *value) {
    if (value == NULL) return -1;
    int done = PyList_Append(list, value);
    Py_DECREF(value);
    return done;
}

static int cut_back(PyObject *list, Py_ssize_t at) {  /* keeps the error that is set */
    PyObject *kind, *error, *trace;
    PyErr_Fetch(&kind, &error, &trace);
    if (PyList_SetSlice(list, at, PyList_GET_SIZE(list), NULL) < 0) PyErr_Clear();
    PyErr_Restore(kind, error, trace);
    return -1;
}

static PyObject *version_of(PyObject *tensor) {
    PyObject *version = PyObject_GetAttr(tensor, s_version);
    if (version == NULL && PyErr_ExceptionMatches(PyExc_RuntimeError)) {  /* inference tensors have none */
        PyErr_Clear();
        return new_ref(Py_None);
    }
    return version;
}

/* Note the memory of a tensor, the first time it is met while it lives. */
static int note_memory(Tape *self, Ghost *ghost, PyObject *storage, int made) {
    PyObject *before = PyDict_GetItemWithError(self->storages, ghost->cdata);
    if (before == NULL && PyErr_Occurred()) return -1;
    if (before != NULL && PyWeakref_Check(before)) {
        int alive = is_alive(before);
        if (alive != 0) return alive < 0 ? -1 : 0;
    }
    PyObject *watch = PyWeakref_NewRef(storage, self->gone);
    if (watch == NULL) return -1;
    PyObject *kind = NULL, *bytes = NULL, *item = NULL;
    int done = PyDict_SetItem(self->storages, ghost->cdata, watch);
    if (done == 0) bytes = PyObject_CallMethodNoArgs(storage, s_nbytes);
    if (bytes != NULL) {
        int is_parameter = 0;
        if (!made) {
            PyObject *answer = PyObject_GetAttr((PyObject *)ghost, s_is_parameter);
            is_parameter = answer == Py_True;
            if (answer == NULL) PyErr_Clear();
            Py_XDECREF(answer);
        }
        kind = PyUnicode_InternFromString(is_parameter ? "parameter" : "");
    }
    if (kind != NULL) item = PyTuple_Pack(5, ghost->cdata, bytes, made ? Py_True : Py_False, kind, watch);
    if (item != NULL) {
        Py_ssize_t end = PyList_GET_SIZE(self->lives);
        done = PyList_SetSlice(self->lives, end, end, item);
    } else {
        done = -1;
    }
    Py_XDECREF(item);
    Py_XDECREF(kind);
    Py_XDECREF(bytes);
    Py_DECREF(watch);
    return done;
}

/* Tape.make: a new ghost, borrowed from `known`. */
static Ghost *make_ghost(Tape *self, PyObject *tensor, PyObject *address, int made) {
    Ghost *ghost = (Ghost *)ghost_class->tp_alloc(ghost_class, 0);
    if (ghost == NULL) return NULL;
    PyObject *storage = NULL;
    int done = ghost_fill(ghost, tensor, &storage);
    if (done == 0) done = PyDict_SetItem(self->known, address, (PyObject *)ghost);
    if (done == 0 && storage != NULL && self->lives != NULL && PyList_CheckExact(self->lives))
        done = note_memory(self, ghost, storage, made);
    Py_XDECREF(storage);
    Py_DECREF(ghost);
    return done == 0 ? ghost : NULL;
}

/* Tape.meet: as it is seen for the first time, with its history. */
static Ghost *meet_ghost(Tape *self, PyObject *tensor, PyObject *address) {
    Ghost *ghost = make_ghost(self, tensor, address, 0);
    PyObject *node = ghost == NULL ? NULL : PyObject_GetAttr(tensor, s_grad_fn);
    if (node == NULL) return NULL;
    if (node != Py_None) {
        PyObject *past = node_of(self, node, LEAF_NUMBER, NULL);
        PyObject *place = past == NULL ? NULL : PyObject_GetAttr(tensor, s_output_nr);
        if (place == NULL) {
            Py_XDECREF(past);
            Py_DECREF(node);
            return NULL;
        }
        Py_XSETREF(ghost->grad_fn, past);
        Py_XSETREF(ghost->output_nr, place);
    }
    Py_DECREF(node);
    return ghost;
}

/* The ghost of a tensor, borrowed from `known`: met where it comes from outside, else made. */
static Ghost *ghost_of(Tape *self, PyObject *tensor, int made) {
    PyObject *address = PyLong_FromVoidPtr(tensor);
    if (address == NULL) return NULL;
    Ghost *ghost = (Ghost *)PyDict_GetItemWithError(self->known, address);
    if (ghost == NULL && PyErr_Occurred()) {
        Py_DECREF(address);
        return NULL;
    }
    if (ghost == NULL || Py_TYPE(ghost) != ghost_class || !is_of(ghost->ref, tensor))
        ghost = made ? make_ghost(self, tensor, address, 1) : meet_ghost(self, tensor, address);
    Py_DECREF(address);
    return ghost;
}

/* Append a ghost and the version of its tensor. */
static int put_tensor(Tape *self, PyObject *tensor, int made) {
    Ghost *ghost = ghost_of(self, tensor, made);
    if (ghost == NULL || PyList_Append(self->events, (PyObject *)ghost) < 0) return -1;
    return put(self->events, version_of(tensor));
}

static int is_tensor(PyObject *value) { return Py_TYPE(value) == tensor_type || Py_TYPE(value) == parameter_type; }

static int is_simple(PyObject *value) {
    for (Py_ssize_t place = 0; place < simple_count; place++)
        if (Py_TYPE(value) == simple[place]) return 1;
    return 0;
}

static int count_now(Tape *self, PyObject **object, long long *number) {
    *object = PyObject_CallNoArgs(self->counter);
    if (*object == NULL) return -1;
    *number = PyLong_AsLongLong(*object);
    return *number == -1 && PyErr_Occurred() ? -1 : 0;
}

/* The code and instruction an op is called from: sites.place_of, or None where its caller is known. New references. */
static int place_now(Tape *self, PyFrameObject *frame, PyObject **code, PyObject **line) {
    PyCodeObject *here = PyFrame_GetCode(frame);
    PyObject *is_users = PyDict_GetItemWithError(users, here->co_filename);
    *code = *line = NULL;
    if (is_users == Py_True) {
        *code = (PyObject *)here;
        *line = PyObject_GetAttr((PyObject *)frame, s_lasti);
        return *line == NULL ? -1 : 0;
    }
    Py_DECREF(here);
    if (is_users == NULL && PyErr_Occurred()) return -1;
    PyObject *place = NULL;
    if (!self->is_placed && (place = PyObject_CallOneArg(place_of, (PyObject *)frame)) == NULL) return -1;
    if (place != NULL && PyTuple_CheckExact(place) && PyTuple_GET_SIZE(place) == 2) {
        *code = new_ref(PyTuple_GET_ITEM(place, 0));
        *line = new_ref(PyTuple_GET_ITEM(place, 1));
    } else {
        *code = new_ref(Py_None);
        *line = new_ref(small[0]);
    }
    Py_XDECREF(place);
    return 0;
}

/* Append an argument: 1 when it was, 0 when Python has to look at it, -1 for an error. */
static int put_argument(Tape *self, PyObject *value, PyObject *inputs) {
    if (is_tensor(value)) {
        if (PyList_Append(inputs, value) < 0 || put_tensor(self, value, 0) < 0) return -1;
        return 1;
    }
    if (!is_simple(value)) return 0;
    return PyList_Append(self->events, Py_None) < 0 || PyList_Append(self->events, value) < 0 ? -1 : 1;
}

static int put_arguments(Tape *self, PyObject *args, PyObject *kwargs, PyObject *inputs) {
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(args); place++) {
        int done = put_argument(self, PyTuple_GET_ITEM(args, place), inputs);
        if (done != 1) return done;
    }
    Py_ssize_t at = 0;
    PyObject *name, *value;
    while (kwargs != NULL && PyDict_Next(kwargs, &at, &name, &value)) {
        int done = put_argument(self, value, inputs);
        if (done != 1) return done;
    }
    return 1;
}

static PyObject *names_of(PyObject *kwargs) {
    if (kwargs == NULL) return PyTuple_New(0);
    PyObject *keys = PyDict_Keys(kwargs);
    PyObject *names = keys == NULL ? NULL : PyList_AsTuple(keys);
    Py_XDECREF(keys);
    return names;
}

/* Append the head of an op and its arguments, as `put_argument` answers. */
static int put_begin(Tape *self, PyObject *const *given, PyObject *kwargs, PyObject *const *where, PyObject *inputs) {
    PyObject *events = self->events;
    PyObject *head[] = {small[BEGIN], given[0], given[1], where[0], where[1], where[2], small[0]};
    for (size_t place = 0; place < sizeof head / sizeof *head; place++)
        if (PyList_Append(events, head[place]) < 0) return -1;
    if (put(events, PyLong_FromSsize_t(PyTuple_GET_SIZE(given[2]))) < 0 || put(events, names_of(kwargs)) < 0) return -1;
    return put_arguments(self, given[2], kwargs, inputs);
}

static PyObject *begin_any(Tape *self, PyObject *const *given, PyObject *const *where) {
    PyObject *place = PyTuple_Pack(3, where[0], where[1], where[2]);
    if (place == NULL) return NULL;
    PyObject *begun = PyObject_CallMethodObjArgs((PyObject *)self, s_begin_any, given[0], given[1], given[2], given[3],
                                                 place, NULL);
    Py_DECREF(place);
    return begun;
}

static PyObject *begin_common(Tape *self, PyObject *const *given, PyObject *const *where) {
    PyObject *kwargs = given[3] != Py_None && PyDict_GET_SIZE(given[3]) ? given[3] : NULL;
    Py_ssize_t at = PyList_GET_SIZE(self->events);
    PyObject *inputs = PyList_New(0);
    if (inputs == NULL) return NULL;
    int done = put_begin(self, given, kwargs, where, inputs);
    if (done != 1) {
        cut_back(self->events, at);
        Py_DECREF(inputs);
        return done < 0 ? NULL : begin_any(self, given, where);
    }
    PyObject *writes = Py_True, *start = PyLong_FromSsize_t(at), *begun = NULL;
    if (kwargs == NULL) {
        PyObject *known = PyDict_GetItemWithError(read_only, given[1]);
        if (known == Py_True) writes = Py_False;
    }
    if (start != NULL && !PyErr_Occurred()) begun = PyTuple_Pack(4, start, where[2], inputs, writes);
    Py_XDECREF(start);
    Py_DECREF(inputs);
    if (begun != NULL && self->timed) {
        PyObject *now = PyObject_CallNoArgs(clock_ns);
        if (now == NULL || PyList_SetItem(self->events, at + 6, now) < 0) Py_CLEAR(begun);
    }
    if (begun == NULL) cut_back(self->events, at);
    return begun;
}

/* Tape.begin(plan, function, args, kwargs, frame) */
static PyObject *tape_begin(Tape *self, PyObject *const *given, Py_ssize_t count) {
    if (count != 5 || !PyTuple_CheckExact(given[2]) || (given[3] != Py_None && !PyDict_CheckExact(given[3])) ||
        !PyFrame_Check(given[4])) {
        PyErr_SetString(PyExc_TypeError, "begin() takes a plan, a function, args, kwargs and a frame");
        return NULL;
    }
    if (!is_ready(self)) return NULL;
    PyObject *where[3] = {NULL, NULL, NULL}, *begun = NULL;
    long long number;
    if (count_now(self, &where[2], &number) == 0 &&
        place_now(self, (PyFrameObject *)given[4], &where[0], &where[1]) == 0) {
        if (self->strangers || number != self->expected)
            begun = begin_any(self, given, where);
        else
            begun = begin_common(self, given, where);
    }
    Py_XDECREF(where[0]);
    Py_XDECREF(where[1]);
    Py_XDECREF(where[2]);
    return begun;
}

/* The tensors of a result, as a new list; NULL without an error where Python has to look at it. */
static PyObject *outputs_of(PyObject *result) {
    if (is_tensor(result)) {
        PyObject *one = PyList_New(1);
        if (one != NULL) PyList_SET_ITEM(one, 0, new_ref(result));
        return one;
    }
    if (is_simple(result)) return PyList_New(0);
    if (!PyTuple_CheckExact(result) && !PyList_CheckExact(result)) return NULL;
    for (Py_ssize_t place = 0; place < PySequence_Fast_GET_SIZE(result); place++)
        if (!is_tensor(PySequence_Fast_GET_ITEM(result, place))) return NULL;
    return PySequence_List(result);
}

static GhostNode *new_node(PyObject *real, PyObject *sequence, int seen) {
    PyObject *kind = PyDict_GetItemWithError(kinds, (PyObject *)Py_TYPE(real)), *owned = NULL;
    if (kind == NULL && !PyErr_Occurred()) kind = owned = PyObject_CallOneArg(ghost_kind, (PyObject *)Py_TYPE(real));
    if (kind == NULL) return NULL;
    GhostNode *made = NULL;
    if (PyType_Check(kind) && PyType_IsSubtype((PyTypeObject *)kind, &node_type))
        made = (GhostNode *)((PyTypeObject *)kind)->tp_alloc((PyTypeObject *)kind, 0);
    else
        PyErr_SetString(PyExc_TypeError, "a kind of node has another class");
    if (made != NULL && node_fill(made, sequence, seen) < 0) Py_CLEAR(made);
    Py_XDECREF(owned);
    return made;
}

/* Tape._leaf: a node without a number of its own. New reference. */
static PyObject *leaf_of(Tape *self, PyObject *node) {
    PyObject *number = PyLong_FromUnsignedLongLong(LEAF_NUMBER), *key = NULL, *leaf = NULL;
    PyObject *variable = number == NULL ? NULL : PyObject_GetAttr(node, s_variable);
    if (variable == NULL) {
        if (number != NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {  /* it only raises an error */
            PyErr_Clear();
            leaf = (PyObject *)new_node(node, number, 0);
        }
        Py_XDECREF(number);
        return leaf;
    }
    Ghost *ghost = ghost_of(self, variable, 0);
    if (ghost != NULL) key = PyLong_FromVoidPtr(ghost);
    PyObject *known = key == NULL ? NULL : PyDict_GetItemWithError(self->leaves, key);
    if (known != NULL) {
        leaf = new_ref(known);
    } else if (key != NULL && !PyErr_Occurred()) {
        leaf = (PyObject *)new_node(node, number, 0);
        if (leaf != NULL) Py_XSETREF(((GhostNode *)leaf)->variable, new_ref((PyObject *)ghost));
        if (leaf != NULL && PyDict_SetItem(self->leaves, key, leaf) < 0) Py_CLEAR(leaf);
    }
    Py_XDECREF(key);
    Py_DECREF(variable);
    Py_DECREF(number);
    return leaf;
}

/* The ghost of one node, new or known, and whether it is new. New reference. */
static PyObject *node_step(Tape *self, PyObject *node, unsigned long long since, int *is_new) {
    *is_new = 0;
    PyObject *number = PyObject_CallMethodNoArgs(node, s_sequence);
    if (number == NULL) return NULL;
    unsigned long long value = PyLong_AsUnsignedLongLong(number);
    PyObject *ghost = NULL;
    if (value == (unsigned long long)-1 && PyErr_Occurred()) {
        Py_DECREF(number);
        return NULL;
    }
    if (value >= LEAF_NUMBER) {
        ghost = leaf_of(self, node);
    } else if ((ghost = PyDict_GetItemWithError(self->nodes, number)) != NULL) {
        Py_INCREF(ghost);
    } else if (!PyErr_Occurred()) {
        ghost = (PyObject *)new_node(node, number, value >= since);
        if (ghost != NULL && PyDict_SetItem(self->nodes, number, ghost) < 0) Py_CLEAR(ghost);
        *is_new = ghost != NULL;
    }
    Py_DECREF(number);
    return ghost;
}

/* Fill in what is behind a new node; those that are new among it are put on the stack, each with its ghost. */
static int node_behind(Tape *self, PyObject *real, GhostNode *ghost, unsigned long long since, PyObject *fresh,
                       PyObject *stack) {
    unsigned long long number = PyLong_AsUnsignedLongLong(ghost->sequence);
    int young = number >= (unsigned long long)self->first;
    if (ghost->seen && fresh != NULL) {
        if (PyList_Append(fresh, real) < 0) return -1;
    } else if (young) {
        PyObject *custom = PyObject_CallOneArg(is_custom, (PyObject *)Py_TYPE(real));
        if (custom == NULL) return -1;
        int yes = custom == Py_True;
        Py_DECREF(custom);
        if (yes) {
            PyObject *kept = PyObject_CallMethod((PyObject *)self, "_kept_by", "[O]()", real);
            if (kept == NULL) return -1;
            Py_XSETREF(ghost->saved_bytes, kept);
        }
    }
    PyObject *behind = PyList_New(0), *next = young ? PyObject_GetAttr(real, s_next) : PyTuple_New(0);
    int done = behind == NULL || next == NULL || !PyTuple_Check(next) ? -1 : 0;
    for (Py_ssize_t place = 0; done == 0 && place < PyTuple_GET_SIZE(next); place++) {
        PyObject *edge = PyTuple_GET_ITEM(next, place);
        PyObject *source = PyTuple_GET_ITEM(edge, 0), *found;
        int is_new = 0;
        found = source == Py_None ? new_ref(Py_None) : node_step(self, source, since, &is_new);
        done = found == NULL ? -1 : PyList_Append(behind, found);
        if (done == 0) done = PyList_Append(behind, PyTuple_GET_ITEM(edge, 1));
        if (done == 0 && is_new) done = PyList_Append(stack, source) < 0 || PyList_Append(stack, found) < 0 ? -1 : 0;
        Py_XDECREF(found);
    }
    Py_XDECREF(next);
    if (done == 0)
        Py_XSETREF(ghost->behind, behind);
    else
        Py_XDECREF(behind);
    return done;
}

/* Tape.node: the ghost of a node and of what is behind it, as far as it is younger than the recording. A new one. */
static PyObject *node_of(Tape *self, PyObject *node, unsigned long long since, PyObject *fresh) {
    int is_new;
    PyObject *top = node_step(self, node, since, &is_new);
    if (top == NULL || !is_new) return top;
    PyObject *stack = PyList_New(0);
    int done = stack == NULL ? -1 : node_behind(self, node, (GhostNode *)top, since, fresh, stack);
    while (done == 0 && PyList_GET_SIZE(stack) > 0) {
        Py_ssize_t last = PyList_GET_SIZE(stack);
        PyObject *real = new_ref(PyList_GET_ITEM(stack, last - 2)), *ghost = new_ref(PyList_GET_ITEM(stack, last - 1));
        done = PyList_SetSlice(stack, last - 2, last, NULL);
        if (done == 0) done = node_behind(self, real, (GhostNode *)ghost, since, fresh, stack);
        Py_DECREF(real);
        Py_DECREF(ghost);
    }
    Py_XDECREF(stack);
    if (done < 0) Py_CLEAR(top);
    return top;
}

/* Tape.node(node) */
static PyObject *tape_node(Tape *self, PyObject *node) {
    return is_ready(self) ? node_of(self, node, LEAF_NUMBER, NULL) : NULL;
}

/* The nodes an op has made: (tensor, node, place) for each that has one, saved bytes, whether packed. */
static PyObject *claimed(Tape *self, PyObject *tensors, PyObject *inputs, unsigned long long since) {
    if (!self->packed) {
        PyObject *answer = PyObject_CallNoArgs(is_packing);
        if (answer == NULL) return NULL;
        self->packed = answer == Py_True;
        Py_DECREF(answer);
    }
    PyObject *found = PyList_New(0), *fresh = PyList_New(0), *kept = NULL, *made = NULL;
    int done = found == NULL || fresh == NULL ? -1 : 0;
    for (Py_ssize_t place = 0; done == 0 && place < PyList_GET_SIZE(tensors); place++) {
        PyObject *tensor = PyList_GET_ITEM(tensors, place), *node = PyObject_GetAttr(tensor, s_grad_fn);
        if (node == NULL) {
            done = -1;
        } else if (node != Py_None) {
            PyObject *ghost = (PyObject *)ghost_of(self, tensor, 1);
            done = ghost == NULL ? -1 : PyList_Append(found, ghost);
            if (done == 0) done = put(found, node_of(self, node, since, fresh));
            if (done == 0) done = put(found, PyObject_GetAttr(tensor, s_output_nr));
        }
        Py_XDECREF(node);
    }
    if (done == 0 && PyList_GET_SIZE(fresh) > 0)
        kept = PyObject_CallMethodObjArgs((PyObject *)self, s_kept_by, fresh, inputs, NULL);
    else if (done == 0)
        kept = new_ref(small[0]);
    if (kept != NULL) made = PyTuple_Pack(3, found, kept, self->packed ? Py_True : Py_False);
    Py_XDECREF(kept);
    Py_XDECREF(found);
    Py_XDECREF(fresh);
    return made;
}

/* Tape._claim(tensors, inputs, since) */
static PyObject *tape_claim(Tape *self, PyObject *const *given, Py_ssize_t count) {
    if (count != 3 || !PyList_CheckExact(given[0])) {
        PyErr_SetString(PyExc_TypeError, "_claim() takes two lists of tensors, and a number");
        return NULL;
    }
    unsigned long long since = PyLong_AsUnsignedLongLong(given[2]);
    if ((since == (unsigned long long)-1 && PyErr_Occurred()) || !is_ready(self)) return NULL;
    return claimed(self, given[0], given[1], since);
}

static int put_end(Tape *self, PyObject *begun, PyObject *const *head, PyObject *outputs, int writes) {
    PyObject *events = self->events, *inputs = PyTuple_GET_ITEM(begun, 2);
    for (int place = 0; place < 5; place++)
        if (PyList_Append(events, head[place]) < 0) return -1;
    Py_ssize_t made = PyList_GET_SIZE(outputs), read = writes ? PyList_GET_SIZE(inputs) : 0;
    if (put(events, PyLong_FromSsize_t(made)) < 0 || put(events, PyLong_FromSsize_t(read)) < 0) return -1;
    for (Py_ssize_t place = 0; place < made; place++)
        if (put_tensor(self, PyList_GET_ITEM(outputs, place), 1) < 0) return -1;
    for (Py_ssize_t place = 0; place < read; place++)
        if (put(events, version_of(PyList_GET_ITEM(inputs, place))) < 0) return -1;
    if (self->lives != NULL && PyList_CheckExact(self->lives)) return PyList_Append(self->lives, Py_None);
    return 0;
}

static int end_common(Tape *self, PyObject *begun, PyObject *outputs, PyObject *now, PyObject *sequence,
                      long long since, long long now_number) {
    int writes = PyObject_IsTrue(PyTuple_GET_ITEM(begun, 3));
    PyObject *inputs = PyTuple_GET_ITEM(begun, 2), *made = NULL;
    if (writes < 0) return -1;
    if (since == now_number) {
        made = new_ref(Py_None);
    } else {
        PyObject *tensors = writes ? PySequence_Concat(outputs, inputs) : new_ref(outputs);
        if (tensors != NULL) made = claimed(self, tensors, inputs, (unsigned long long)since);
        Py_XDECREF(tensors);
    }
    if (made == NULL) return -1;
    Py_ssize_t at = PyList_GET_SIZE(self->events);
    PyObject *head[5] = {small[END], PyTuple_GET_ITEM(begun, 0), now, sequence, made};
    int done = put_end(self, begun, head, outputs, writes);
    Py_DECREF(made);
    return done < 0 ? cut_back(self->events, at) : 0;
}

/* Tape.end(begun, result) */
static PyObject *tape_end(Tape *self, PyObject *const *given, Py_ssize_t count) {
    if (count != 2 || !PyTuple_CheckExact(given[0]) || PyTuple_GET_SIZE(given[0]) != 4 ||
        !PyList_CheckExact(PyTuple_GET_ITEM(given[0], 2))) {
        PyErr_SetString(PyExc_TypeError, "end() takes what begin() gave, and a result");
        return NULL;
    }
    if (!is_ready(self)) return NULL;
    PyObject *begun = given[0], *result = given[1], *sequence = NULL, *outputs = NULL;
    PyObject *now = PyObject_CallNoArgs(clock_ns);
    if (now == NULL) return NULL;
    long long number = -1, since = PyLong_AsLongLong(PyTuple_GET_ITEM(begun, 1));
    int done = PyErr_Occurred() || count_now(self, &sequence, &number) < 0 ? -1 : 0;
    if (done == 0) {
        self->expected = number;
        outputs = outputs_of(result);
        if (outputs == NULL && !PyErr_Occurred()) {
            PyObject *tape = (PyObject *)self;
            PyObject *ended = PyObject_CallMethodObjArgs(tape, s_end_any, begun, result, now, sequence, NULL);
            done = ended == NULL ? -1 : 0;
            Py_XDECREF(ended);
        } else {
            done = outputs == NULL ? -1 : end_common(self, begun, outputs, now, sequence, since, number);
        }
    }
    Py_XDECREF(outputs);
    Py_XDECREF(sequence);
    Py_DECREF(now);
    if (done < 0) return NULL;
    Py_RETURN_NONE;
}

/* Whether a version of a tensor was looked at; -1 for an error. */
static int is_looked_at(Ghost *ghost, PyObject *tensor) {
    PyObject *version = version_of(tensor);
    if (version == NULL) return -1;
    int same = ghost->looked == NULL ? version == Py_None : PyObject_RichCompareBool(ghost->looked, version, Py_EQ);
    Py_DECREF(version);
    return same;
}

static int is_new(Ghost *ghost) { return ghost->looked == no_look; }

/* Forget an error, unless it is one that must reach the script: Ctrl-C. */
static void forgive(void) {
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();
}

/* Whether a function of torch's gives nothing: None, 0 or False. An error counts as no. */
static int gives_nothing(PyObject *function) {
    PyObject *answer = PyObject_CallNoArgs(function);
    int truth = answer == NULL ? -1 : answer == Py_None ? 0 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    if (truth < 0) forgive();
    return truth == 0;
}

static int has(PyObject *object, PyObject *name, PyObject *wanted) {
    PyObject *value = PyObject_GetAttr(object, name);
    int same = value == wanted;
    if (value == NULL) forgive();
    Py_XDECREF(value);
    return same;
}

/* The two values of `aminmax`, without gradients; NULL where it has none. */
static PyObject *edges_of(PyObject *tensor, int requires_grad) {
    PyObject *before = NULL, *edges = NULL, *done = NULL;
    if (requires_grad) {
        before = PyObject_CallNoArgs(is_grad_enabled);
        done = before == NULL ? NULL : PyObject_CallOneArg(set_grad_enabled, Py_False);
        Py_XDECREF(done);
    }
    if (!requires_grad || done != NULL) edges = PyObject_CallOneArg(aminmax, tensor);
    if (edges == NULL) forgive();
    if (before != NULL) {
        PyObject *kind, *error, *trace;
        PyErr_Fetch(&kind, &error, &trace);
        done = PyObject_CallOneArg(set_grad_enabled, before);
        if (done == NULL) PyErr_Clear();
        Py_XDECREF(done);
        Py_DECREF(before);
        PyErr_Restore(kind, error, trace);
    }
    return edges;
}

/* value_tape.look, for finite values of an ordinary tensor on a CPU; NULL where Python has to look, or with Ctrl-C. */
static PyObject *look(Ghost *ghost, PyObject *tensor) {
    if (!is_tensor(tensor) || ghost->dtype == NULL || !has(ghost->dtype, s_is_float, Py_True) ||
        !has(tensor, s_is_cpu, Py_True) || !has(tensor, s_layout, strided) || !gives_nothing(dispatch_modes) ||
        !gives_nothing(transform))
        return NULL;
    PyObject *edges = edges_of(tensor, has(tensor, s_requires_grad, Py_True));
    if (edges == NULL || !PyTuple_Check(edges) || PyTuple_GET_SIZE(edges) != 2) {
        Py_XDECREF(edges);
        return NULL;
    }
    PyObject *low = PyObject_CallMethodNoArgs(PyTuple_GET_ITEM(edges, 0), s_item), *looked = NULL, *count = NULL;
    PyObject *high = low == NULL ? NULL : PyObject_CallMethodNoArgs(PyTuple_GET_ITEM(edges, 1), s_item);
    if (high != NULL && PyFloat_CheckExact(low) && PyFloat_CheckExact(high) &&
        Py_IS_FINITE(PyFloat_AS_DOUBLE(high) - PyFloat_AS_DOUBLE(low)))
        count = PyObject_CallMethodNoArgs(tensor, s_numel);
    if (count != NULL) looked = PyTuple_Pack(3, count, low, high);
    forgive();
    Py_XDECREF(count);
    Py_XDECREF(high);
    Py_XDECREF(low);
    Py_DECREF(edges);
    return looked;
}

/* ValueTape._see */
static int see(Tape *self, Ghost *ghost, PyObject *tensor) {
    PyObject *looked = self->looks != NULL && PyList_CheckExact(self->looks) ? look(ghost, tensor) : NULL;
    if (looked == NULL && PyErr_Occurred()) return -1;
    if (looked == NULL) {
        PyObject *seen = PyObject_CallMethodObjArgs((PyObject *)self, s_see, ghost, tensor, NULL);
        Py_XDECREF(seen);
        return seen == NULL ? -1 : 0;
    }
    PyObject *version = version_of(tensor);
    if (version == NULL) {
        Py_DECREF(looked);
        return -1;
    }
    Py_XSETREF(ghost->looked, version);
    Py_XSETREF(ghost->bad, new_ref(Py_False));
    Py_XSETREF(ghost->last, looked);
    return PyList_Append(self->looks, (PyObject *)ghost) < 0 || PyList_Append(self->looks, version) < 0 ||
                   PyList_Append(self->looks, looked) < 0
               ? -1
               : 0;
}

static int see_inputs(Tape *self, PyObject *inputs, int only_new) {
    for (Py_ssize_t place = 0; place < PyList_GET_SIZE(inputs); place++) {
        PyObject *tensor = PyList_GET_ITEM(inputs, place);
        Ghost *ghost = ghost_of(self, tensor, 0);
        if (ghost == NULL) return -1;
        int known = is_new(ghost) ? 0 : only_new ? 1 : is_looked_at(ghost, tensor);
        if (known < 0 || (known == 0 && see(self, ghost, tensor) < 0)) return -1;
    }
    return 0;
}

/* ValueTape.begin */
static PyObject *tape_begin_seeing(Tape *self, PyObject *const *given, Py_ssize_t count) {
    PyObject *begun = tape_begin(self, given, count);
    if (begun != NULL && see_inputs(self, PyTuple_GET_ITEM(begun, 2), self->in_step) < 0) Py_CLEAR(begun);
    return begun;
}

/* ValueTape._is_view: whether it shows values that were looked at, and found well, as those of an input. */
static int is_view(Tape *self, Ghost *ghost, PyObject *inputs) {
    if (ghost->cdata == NULL || ghost->cdata == Py_None) return 0;
    for (Py_ssize_t place = 0; place < PyList_GET_SIZE(inputs); place++) {
        Ghost *source = ghost_of(self, PyList_GET_ITEM(inputs, place), 0);
        if (source == NULL) return -1;
        if (source->cdata == NULL || source->bad == Py_True) continue;
        int same = PyObject_RichCompareBool(source->cdata, ghost->cdata, Py_EQ);
        if (same != 0) return same;
    }
    return 0;
}

/* Whether values are not worth a look: an optimizer's arithmetic, or memory that was never written to. */
static int skips_values(Tape *self, Py_ssize_t at) {
    if (self->in_step) return 1;
    PyObject *plan = at + 1 < PyList_GET_SIZE(self->events) ? PyList_GET_ITEM(self->events, at + 1) : NULL;
    if (plan == NULL || !PyTuple_CheckExact(plan) || PyTuple_GET_SIZE(plan) != 2) return 0;
    const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(plan, 1));
    if (name == NULL) return -1;
    const char *unwritten[] = {"empty", "new_empty", "resize"};
    for (size_t place = 0; place < 3; place++)
        if (strncmp(name, unwritten[place], strlen(unwritten[place])) == 0) return 1;
    return 0;
}

static int see_outputs(Tape *self, Py_ssize_t first, Py_ssize_t count, PyObject *inputs, int skips) {
    for (Py_ssize_t place = first; place < first + 2 * count; place += 2) {
        PyObject *ghost = place < PyList_GET_SIZE(self->events) ? new_ref(PyList_GET_ITEM(self->events, place)) : NULL;
        if (ghost == NULL || Py_TYPE(ghost) != ghost_class) {
            Py_XDECREF(ghost);
            return 0;
        }
        PyObject *tensor = PyObject_CallNoArgs(((Ghost *)ghost)->ref);
        int done = tensor == NULL ? -1 : 0, passes = 0;
        if (done == 0 && is_new((Ghost *)ghost)) passes = skips ? 1 : is_view(self, (Ghost *)ghost, inputs);
        if (passes < 0) done = -1;
        if (done == 0 && passes) {
            PyObject *version = version_of(tensor);
            if (version == NULL) done = -1;
            else Py_XSETREF(((Ghost *)ghost)->looked, version);
        } else if (done == 0 && !skips) {
            int known = is_looked_at((Ghost *)ghost, tensor);
            done = known < 0 ? -1 : known ? 0 : see(self, (Ghost *)ghost, tensor);
        }
        Py_XDECREF(tensor);
        Py_DECREF(ghost);
        if (done < 0) return -1;
    }
    return 0;
}

/* ValueTape.see_incoming; 1 when none of them is bad, 0 when one is. */
static int see_incoming(Tape *self, PyObject *gradients) {
    int healthy = 1;
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(gradients); place++) {
        PyObject *gradient = PyTuple_GET_ITEM(gradients, place);
        if (gradient == Py_None) continue;
        Ghost *ghost = ghost_of(self, gradient, 1);
        int known = ghost == NULL ? -1 : is_looked_at(ghost, gradient);
        if (known < 0 || (known == 0 && see(self, ghost, gradient) < 0)) return -1;
        if (ghost->bad == Py_True) healthy = 0;
    }
    return healthy;
}

/* ValueTape.see_node */
static int see_node(Tape *self, PyObject *node, PyObject *produced, PyObject *gradients) {
    int healthy = see_incoming(self, gradients);
    if (healthy < 0) return -1;
    PyObject *variable = ((GhostNode *)node)->variable;
    if (variable != NULL && variable != Py_None) {
        PyObject *seen = PyObject_CallMethodObjArgs((PyObject *)self, s_see_sum, variable, gradients, NULL);
        Py_XDECREF(seen);
        return seen == NULL ? -1 : 0;
    }
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(produced); place++) {
        PyObject *gradient = PyTuple_GET_ITEM(produced, place);
        if (gradient == Py_None) continue;
        Ghost *ghost = ghost_of(self, gradient, 1);
        if (ghost == NULL) return -1;
        if (healthy && is_new(ghost)) {  /* transpose, expand: nothing new */
            PyObject *view = PyObject_CallMethodNoArgs(gradient, s_is_view), *version = NULL;
            if (view == NULL) return -1;
            int yes = view == Py_True;
            Py_DECREF(view);
            if (yes) {
                if ((version = version_of(gradient)) == NULL) return -1;
                Py_XSETREF(ghost->looked, version);
                continue;
            }
        }
        int known = is_looked_at(ghost, gradient);
        if (known < 0 || (known == 0 && see(self, ghost, gradient) < 0)) return -1;
    }
    return 0;
}

/* ValueTape.end */
static PyObject *tape_end_seeing(Tape *self, PyObject *const *given, Py_ssize_t count) {
    Py_ssize_t written = self->events != NULL && PyList_CheckExact(self->events) ? PyList_GET_SIZE(self->events) : 0;
    PyObject *ended = tape_end(self, given, count);
    if (ended == NULL || PyList_GET_SIZE(self->events) < written + 7) return ended;
    PyObject *begun = given[0], *inputs = PyTuple_GET_ITEM(begun, 2);
    Py_ssize_t at = PyLong_AsSsize_t(PyTuple_GET_ITEM(begun, 0));
    Py_ssize_t outputs = PyLong_AsSsize_t(PyList_GET_ITEM(self->events, written + 5));
    int skips = PyErr_Occurred() ? -1 : skips_values(self, at), writes = PyObject_IsTrue(PyTuple_GET_ITEM(begun, 3));
    if (skips < 0 || writes < 0 || see_outputs(self, written + 7, outputs, inputs, skips) < 0 ||
        (writes && !skips && see_inputs(self, inputs, 0) < 0))
        Py_CLEAR(ended);
    return ended;
}

/* Tape.make(tensor, made=True), Tape.meet(tensor), Tape.ghost(tensor) */
static PyObject *tape_make(Tape *self, PyObject *const *given, Py_ssize_t count) {
    if (count < 1 || count > 2) {
        PyErr_SetString(PyExc_TypeError, "make() takes a tensor, and whether an op has made it");
        return NULL;
    }
    int made = count == 2 ? PyObject_IsTrue(given[1]) : 1;
    if (made < 0 || !is_ready(self)) return NULL;
    PyObject *address = PyLong_FromVoidPtr(given[0]);
    PyObject *ghost = address == NULL ? NULL : (PyObject *)make_ghost(self, given[0], address, made);
    Py_XDECREF(address);
    Py_XINCREF(ghost);
    return ghost;
}

static PyObject *tape_meet(Tape *self, PyObject *tensor) {
    PyObject *address = is_ready(self) ? PyLong_FromVoidPtr(tensor) : NULL;
    PyObject *ghost = address == NULL ? NULL : (PyObject *)meet_ghost(self, tensor, address);
    Py_XDECREF(address);
    Py_XINCREF(ghost);
    return ghost;
}

static PyObject *tape_ghost(Tape *self, PyObject *tensor) {
    PyObject *ghost = is_ready(self) ? (PyObject *)ghost_of(self, tensor, 0) : NULL;
    Py_XINCREF(ghost);
    return ghost;
}

/* Tape.note(head, tensors) */
static PyObject *tape_note(Tape *self, PyObject *const *given, Py_ssize_t count) {
    if (count != 2 || !PyTuple_CheckExact(given[0]) || !PyList_CheckExact(given[1])) {
        PyErr_SetString(PyExc_TypeError, "note() takes a tuple and a list of tensors");
        return NULL;
    }
    if (!is_ready(self)) return NULL;
    if (self->strangers) {
        PyObject *looked = PyObject_CallMethodOneArg((PyObject *)self, s_look_again, given[1]);
        if (looked == NULL) return NULL;
        Py_DECREF(looked);
    }
    Py_ssize_t at = PyList_GET_SIZE(self->events);
    int done = PyList_SetSlice(self->events, at, at, given[0]);
    for (Py_ssize_t place = 0; done == 0 && place < PyList_GET_SIZE(given[1]); place++)
        done = put_tensor(self, PyList_GET_ITEM(given[1], place), 0);
    if (done < 0) {
        cut_back(self->events, at);
        return NULL;
    }
    return PyLong_FromSsize_t(at);
}

#define FAST(name, function) {name, (PyCFunction)(void (*)(void))function, METH_FASTCALL, NULL}
static PyMethodDef tape_methods[] = {
    FAST("begin", tape_begin), FAST("end", tape_end), FAST("make", tape_make), FAST("note", tape_note),
    FAST("begin_seeing", tape_begin_seeing), FAST("end_seeing", tape_end_seeing), FAST("_claim", tape_claim),
    {"node", (PyCFunction)tape_node, METH_O, NULL},
    {"meet", (PyCFunction)tape_meet, METH_O, NULL}, {"ghost", (PyCFunction)tape_ghost, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef tape_members[] = {
    {"events", T_OBJECT, offsetof(Tape, events), 0, NULL},
    {"known", T_OBJECT, offsetof(Tape, known), 0, NULL},
    {"nodes", T_OBJECT, offsetof(Tape, nodes), 0, NULL},
    {"_leaves", T_OBJECT, offsetof(Tape, leaves), 0, NULL},
    {"counter", T_OBJECT, offsetof(Tape, counter), 0, NULL},
    {"looks", T_OBJECT, offsetof(Tape, looks), 0, NULL},
    {"left", T_OBJECT, offsetof(Tape, left), 0, NULL},
    {"thread", T_ULONG, offsetof(Tape, thread), 0, NULL},
    {"lives", T_OBJECT, offsetof(Tape, lives), 0, NULL},
    {"_gone", T_OBJECT, offsetof(Tape, gone), 0, NULL},
    {"_storages", T_OBJECT, offsetof(Tape, storages), 0, NULL},
    {"_expected", T_LONGLONG, offsetof(Tape, expected), 0, NULL},
    {"first", T_LONGLONG, offsetof(Tape, first), 0, NULL},
    {"strangers", T_BOOL, offsetof(Tape, strangers), 0, NULL},
    {"packed", T_BOOL, offsetof(Tape, packed), 0, NULL},
    {"is_placed", T_BOOL, offsetof(Tape, is_placed), 0, NULL},
    {"timed", T_BOOL, offsetof(Tape, timed), 0, NULL},
    {"in_step", T_BOOL, offsetof(Tape, in_step), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyTypeObject tape_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "stepscope.record._tape.Tape",
    .tp_basicsize = sizeof(Tape),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = PyType_GenericNew,
    .tp_dealloc = (destructor)tape_dealloc,
    .tp_traverse = (traverseproc)tape_traverse,
    .tp_clear = (inquiry)tape_clear,
    .tp_methods = tape_methods,
    .tp_members = tape_members,
};

/* The hook behind an autograd node: EngineTape.end */

typedef struct {
    PyObject_HEAD
    PyObject *engine, *recorder, *node;
    Tape *tape;
} NodeEnd;

static int hook_traverse(NodeEnd *self, visitproc visit, void *arg) {
    Py_VISIT(self->engine);
    Py_VISIT(self->recorder);
    Py_VISIT(self->node);
    Py_VISIT(self->tape);
    return 0;
}

static int hook_clear(NodeEnd *self) {
    Py_CLEAR(self->engine);
    Py_CLEAR(self->recorder);
    Py_CLEAR(self->node);
    Py_CLEAR(self->tape);
    return 0;
}

static void hook_dealloc(NodeEnd *self) {
    PyObject_GC_UnTrack(self);
    hook_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int put_gradients(Tape *self, PyObject *gradients) {
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(gradients); place++) {
        PyObject *gradient = PyTuple_GET_ITEM(gradients, place);
        if (gradient == Py_None) {
            if (PyList_Append(self->events, Py_None) < 0 || PyList_Append(self->events, Py_None) < 0) return -1;
        } else if (put_tensor(self, gradient, 1) < 0) {
            return -1;
        }
    }
    return 0;
}

/* What a leaf holds after a gradient has come to it: its version, and the sum. */
static int put_sum(Tape *self, PyObject *ghost) {
    PyObject *variable = PyObject_CallNoArgs(((Ghost *)ghost)->ref);
    if (variable == NULL) return -1;
    PyObject *gradient = variable == Py_None ? new_ref(Py_None) : PyObject_GetAttr(variable, s_grad);
    int done = gradient == NULL ? -1 : put(self->events, variable == Py_None ? new_ref(Py_None) : version_of(variable));
    if (done == 0 && gradient == Py_None)
        done = PyList_Append(self->events, Py_None) < 0 || PyList_Append(self->events, Py_None) < 0 ? -1 : 0;
    else if (done == 0)
        done = put_tensor(self, gradient, 1);
    Py_XDECREF(gradient);
    Py_DECREF(variable);
    return done;
}

static int put_node_end(NodeEnd *self, PyObject *produced, PyObject *gradients, PyObject *now) {
    Tape *tape = self->tape;
    GhostNode *node = (GhostNode *)self->node;
    PyObject *events = tape->events;
    PyObject *head[] = {small[NODE_END], self->node, tape->left == NULL ? small[0] : tape->left, now};
    for (size_t place = 0; place < sizeof head / sizeof *head; place++)
        if (PyList_Append(events, head[place]) < 0) return -1;
    if (put(events, PyLong_FromUnsignedLong(tape->thread)) < 0 ||
        put(events, PyLong_FromSsize_t(PyTuple_GET_SIZE(gradients))) < 0 ||
        put(events, PyLong_FromSsize_t(PyTuple_GET_SIZE(produced))) < 0)
        return -1;
    if (put_gradients(tape, gradients) < 0 || put_gradients(tape, produced) < 0) return -1;
    if (node->variable != NULL && node->variable != Py_None && put_sum(tape, node->variable) < 0) return -1;
    if (tape->lives != NULL && PyList_CheckExact(tape->lives) && PyList_Append(tape->lives, Py_None) < 0) return -1;
    if (tape->looks == NULL || tape->looks == Py_None) return 0;
    return see_node(tape, self->node, produced, gradients);
}

/* With torch functions switched off: the mode is on while the engine runs. */
static int shielded_node_end(NodeEnd *self, PyObject *produced, PyObject *gradients, PyObject *now) {
    PyObject *guard = PyObject_CallNoArgs(disabled);
    PyObject *entered = guard == NULL ? NULL : PyObject_CallMethodNoArgs(guard, s_enter);
    if (entered == NULL) {
        Py_XDECREF(guard);
        return -1;
    }
    Py_ssize_t at = PyList_GET_SIZE(self->tape->events);
    int done = put_node_end(self, produced, gradients, now);
    PyObject *kind, *error, *trace;
    PyErr_Fetch(&kind, &error, &trace);
    if (done < 0) cut_back(self->tape->events, at);
    PyObject *left = PyObject_CallMethodObjArgs(guard, s_exit, Py_None, Py_None, Py_None, NULL);
    if (left == NULL) PyErr_Clear();
    Py_XDECREF(left);
    Py_DECREF(entered);
    Py_DECREF(guard);
    PyErr_Restore(kind, error, trace);
    return done;
}

static PyObject *hook_call(NodeEnd *self, PyObject *args, PyObject *kwargs) {
    PyObject *produced, *gradients;
    (void)kwargs;
    if (!PyArg_UnpackTuple(args, "hook", 2, 2, &produced, &gradients)) return NULL;
    if (self->tape == NULL || PyThread_get_thread_ident() != self->tape->thread || !PyTuple_CheckExact(produced) ||
        !PyTuple_CheckExact(gradients) || !is_ready(self->tape)) {
        PyErr_Clear();
        return PyObject_CallMethodObjArgs(self->engine, s_end, self->node, produced, gradients, NULL);
    }
    PyObject *off = PyObject_GetAttr(self->recorder, s_off), *now = NULL;
    int done = off == NULL ? -1 : PyObject_IsTrue(off);
    Py_XDECREF(off);
    if (done > 0) Py_RETURN_NONE;
    if (done == 0) done = (now = PyObject_CallNoArgs(clock_ns)) == NULL ? -1 : 0;
    if (done == 0) done = shielded_node_end(self, produced, gradients, now);
    Py_XDECREF(now);
    if (done < 0) {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) return NULL;
        PyObject *kind, *error, *trace;
        PyErr_Fetch(&kind, &error, &trace);
        PyErr_NormalizeException(&kind, &error, &trace);
        PyObject *said = PyObject_CallMethodOneArg(self->engine, s_fault, error);
        if (said == NULL) PyErr_Clear();
        Py_XDECREF(said);
        Py_XDECREF(kind);
        Py_XDECREF(error);
        Py_XDECREF(trace);
    }
    PyObject *left = PyObject_CallNoArgs(clock_ns);
    if (left == NULL) return NULL;
    Py_XSETREF(self->tape->left, left);
    Py_RETURN_NONE;
}

static PyTypeObject hook_type;

/* NodeEnd(engine, recorder, tape, node) */
static PyObject *hook_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *engine, *recorder, *tape, *node;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "OOO!O!", &engine, &recorder, &tape_type, &tape, &node_type, &node)) return NULL;
    NodeEnd *self = (NodeEnd *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->engine = new_ref(engine);
    self->recorder = new_ref(recorder);
    self->tape = (Tape *)new_ref(tape);
    self->node = new_ref(node);
    return (PyObject *)self;
}

static PyTypeObject hook_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "stepscope.record._tape.NodeEnd",
    .tp_basicsize = sizeof(NodeEnd),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = hook_new,
    .tp_call = (ternaryfunc)hook_call,
    .tp_dealloc = (destructor)hook_dealloc,
    .tp_traverse = (traverseproc)hook_traverse,
    .tp_clear = (inquiry)hook_clear,
};

/* Bytes kept for backward: SavedObserver._count, for nodes and tensors that are as usual */

/* Add the tensors that a node keeps to a list: 1 when it was done, 0 when Python has to look, -1 for an error. */
static int saved_by(PyObject *names, PyObject *node, PyObject *found) {
    PyObject *fields = PyDict_GetItemWithError(names, (PyObject *)Py_TYPE(node));
    if (fields == NULL || !PyTuple_CheckExact(fields)) return PyErr_Occurred() ? -1 : 0;
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(fields); place++) {
        PyObject *value = PyObject_GetAttr(node, PyTuple_GET_ITEM(fields, place));
        if (value == NULL) return -1;
        int done = 1;
        if (is_tensor(value)) {
            done = PyList_Append(found, value) < 0 ? -1 : 1;
        } else if (PyTuple_CheckExact(value) || PyList_CheckExact(value)) {
            for (Py_ssize_t item = 0; done == 1 && item < PySequence_Fast_GET_SIZE(value); item++) {
                PyObject *one = PySequence_Fast_GET_ITEM(value, item);
                if (is_tensor(one)) done = PyList_Append(found, one) < 0 ? -1 : 1;
                else done = one == Py_None || is_simple(one);
            }
        } else {
            done = value == Py_None;  /* a number is one for every node of this kind, which Python remembers */
        }
        Py_DECREF(value);
        if (done != 1) return done;
    }
    return 1;
}

/* The bytes of a storage not met before, else 0; -1 for an error. */
static long long first_time(PyObject *seen, PyObject *keep, PyObject *storage) {
    PyObject *key = PyObject_GetAttr(storage, s_cdata), *kept = NULL, *bytes = NULL;
    long long size = -1;
    int known = key == NULL ? -1 : PyDict_Contains(seen, key);
    if (known == 1) {
        size = 0;
    } else if (known == 0 && (kept = PyObject_CallOneArg(keep, storage)) != NULL &&
               PyDict_SetItem(seen, key, kept) == 0 && (bytes = PyObject_CallMethodNoArgs(storage, s_nbytes)) != NULL) {
        size = PyLong_AsLongLong(bytes);
    }
    Py_XDECREF(bytes);
    Py_XDECREF(kept);
    Py_XDECREF(key);
    return size;
}

/* Add the storage of a tensor to a list; as `saved_by` answers. */
static int put_storage(PyObject *list, PyObject *tensor) {
    if (put(list, PyObject_CallMethodNoArgs(tensor, s_storage)) == 0) return 1;
    if (!PyErr_ExceptionMatches(PyExc_RuntimeError)) return -1;
    PyErr_Clear();  /* sparse, nested, transformed: none of its own */
    return 0;
}

/* count_saved(seen, keep, names, nodes, inputs): bytes met for the first time, or None where Python has to count. */
static PyObject *count_saved(PyObject *module, PyObject *args) {
    PyObject *seen, *keep, *names, *nodes, *inputs;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OO!O!O", &PyDict_Type, &seen, &keep, &PyDict_Type, &names, &PyList_Type, &nodes,
                          &inputs))
        return NULL;
    PyObject *found = PyList_New(0), *storages = PyList_New(0), *read = PySequence_Fast(inputs, "not a sequence");
    int done = found == NULL || storages == NULL || read == NULL ? -1 : 1;
    Py_ssize_t place, parameters = 0;
    long long total = 0;
    for (place = 0; done == 1 && place < PyList_GET_SIZE(nodes); place++)
        done = saved_by(names, PyList_GET_ITEM(nodes, place), found);
    for (place = 0; done == 1 && place < PySequence_Fast_GET_SIZE(read); place++)
        if (Py_TYPE(PySequence_Fast_GET_ITEM(read, place)) == parameter_type)
            done = put_storage(storages, PySequence_Fast_GET_ITEM(read, place));
    if (done == 1) parameters = PyList_GET_SIZE(storages);
    for (place = 0; done == 1 && place < PyList_GET_SIZE(found); place++)
        done = put_storage(storages, PyList_GET_ITEM(found, place));
    for (place = 0; done == 1 && place < PyList_GET_SIZE(storages); place++) {
        long long size = first_time(seen, keep, PyList_GET_ITEM(storages, place));
        if (size < 0) done = -1;
        if (place >= parameters) total += size;
    }
    Py_XDECREF(read);
    Py_XDECREF(storages);
    Py_XDECREF(found);
    if (done < 0) return NULL;
    if (done == 0) Py_RETURN_NONE;
    return PyLong_FromLongLong(total);
}

/* The module */

static PyObject *configure(PyObject *module, PyObject *args) {
    PyObject *new[12], *types;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!O!OO!OOOO!OOO!", &PyType_Type, &new[0], &PyType_Type, &new[1], &PyType_Type,
                          &new[2], &PyDict_Type, &new[3], &new[4], &PyDict_Type, &new[5], &new[6], &new[7], &new[8],
                          &PyDict_Type, &new[9], &new[10], &new[11], &PyTuple_Type, &types))
        return NULL;
    if (!PyType_IsSubtype((PyTypeObject *)new[0], &ghost_type) || PyTuple_GET_SIZE(types) > MOST_SIMPLE) {
        PyErr_SetString(PyExc_TypeError, "the ghosts must be of this module, and the simple types few");
        return NULL;
    }
    PyObject **kept[] = {(PyObject **)&ghost_class, (PyObject **)&tensor_type, (PyObject **)&parameter_type, &users,
                         &place_of, &read_only, &clock_ns, &is_packing, &is_custom, &kinds, &ghost_kind, &disabled};
    for (int place = 0; place < 12; place++) Py_XSETREF(*kept[place], new_ref(new[place]));
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(types); place++)
        simple[place] = (PyTypeObject *)new_ref(PyTuple_GET_ITEM(types, place));
    simple_count = PyTuple_GET_SIZE(types);
    Py_RETURN_NONE;
}

static PyObject *configure_looks(PyObject *module, PyObject *args) {
    PyObject **kept[] = {&strided, &dispatch_modes, &transform, &aminmax, &is_grad_enabled, &set_grad_enabled};
    PyObject *new[6];
    (void)module;
    if (!PyArg_UnpackTuple(args, "configure_looks", 6, 6, &new[0], &new[1], &new[2], &new[3], &new[4], &new[5]))
        return NULL;
    for (int place = 0; place < 6; place++) Py_XSETREF(*kept[place], new_ref(new[place]));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"configure_looks", configure_looks, METH_VARARGS, "Take what values are looked at with."},
    {"configure", configure, METH_VARARGS, "Take what is looked at here from its owners."},
    {"count_saved", count_saved, METH_VARARGS, "Bytes that nodes keep and that were not met before."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_tape", "What is noted around ops and autograd nodes.", -1, functions,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__tape(void) {
    struct { PyObject **name; const char *text; } names[] = {
        {&s_version, "_version"}, {&s_dtype, "dtype"}, {&s_device, "device"}, {&s_requires_grad, "requires_grad"},
        {&s_storage, "untyped_storage"}, {&s_cdata, "_cdata"}, {&s_shape, "shape"}, {&s_is_contiguous, "is_contiguous"},
        {&s_stride, "stride"}, {&s_describe, "_describe_unusual"}, {&s_nbytes, "nbytes"},
        {&s_is_parameter, "is_parameter"}, {&s_grad_fn, "grad_fn"}, {&s_output_nr, "output_nr"},
        {&s_begin_any, "_begin_any"}, {&s_end_any, "_end_any"}, {&s_look_again, "look_again"},
        {&s_sequence, "_sequence_nr"}, {&s_next, "next_functions"}, {&s_variable, "variable"},
        {&s_kept_by, "_kept_by"}, {&s_grad, "grad"}, {&s_enter, "__enter__"}, {&s_exit, "__exit__"},
        {&s_lasti, "f_lasti"}, {&s_end, "end"}, {&s_off, "off"}, {&s_fault, "report"}, {&s_see, "_see"},
        {&s_see_sum, "_see_sum"}, {&s_is_float, "is_floating_point"},
        {&s_is_cpu, "is_cpu"}, {&s_layout, "layout"}, {&s_item, "item"}, {&s_numel, "numel"}, {&s_is_view, "_is_view"},
    };
    for (size_t place = 0; place < sizeof names / sizeof *names; place++)
        if ((*names[place].name = PyUnicode_InternFromString(names[place].text)) == NULL) return NULL;
    for (long number = 0; number < 16; number++)
        if ((small[number] = PyLong_FromLong(number)) == NULL) return NULL;
    if ((no_look = PyLong_FromLong(-1)) == NULL) return NULL;
    struct { const char *name; PyTypeObject *type; } types[] = {
        {"Ghost", &ghost_type}, {"GhostNode", &node_type}, {"Tape", &tape_type}, {"NodeEnd", &hook_type},
    };
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddIntConstant(module, "VERSION", VERSION) < 0) return NULL;
    for (size_t place = 0; place < sizeof types / sizeof *types; place++) {
        if (PyType_Ready(types[place].type) < 0) return NULL;
        if (PyModule_AddObject(module, types[place].name, new_ref((PyObject *)types[place].type)) < 0) return NULL;
    }
    return module;
}
