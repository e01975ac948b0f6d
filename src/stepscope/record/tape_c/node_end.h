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
