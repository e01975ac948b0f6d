/* The class `Tape`: what Python calls and reads. */

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
    {"saved", T_OBJECT, offsetof(Tape, saved), 0, NULL},
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
