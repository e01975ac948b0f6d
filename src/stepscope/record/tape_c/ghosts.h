/* Ghosts: what stays of a tensor and of an autograd node. `ghosts.py` has the same in Python. */

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
