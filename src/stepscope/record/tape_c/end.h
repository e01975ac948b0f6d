/* An op has returned: its outputs, and the nodes it has made. */

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
        kept = kept_by(self, fresh, inputs);
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
