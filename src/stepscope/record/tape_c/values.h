/* Values that are not finite: what `ValueTape` adds around every op and node. */

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
