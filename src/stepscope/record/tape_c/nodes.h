/* Ghosts of the autograd nodes behind a tensor. */

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
