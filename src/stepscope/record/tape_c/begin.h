/* An op begins: its place in the script, and its arguments. */

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
