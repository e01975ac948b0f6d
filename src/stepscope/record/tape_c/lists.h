/* The tape itself: its lists, and the ghosts it knows. */

typedef struct {
    PyObject_HEAD
    PyObject *events, *known, *nodes, *leaves, *counter, *lives, *gone, *storages, *looks, *left, *saved;
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
    Py_VISIT(self->saved);
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
    Py_CLEAR(self->saved);
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
