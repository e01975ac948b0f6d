/* Bytes kept for backward: SavedObserver._count, for nodes and tensors that are as usual. */

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

/* The bytes of a storage not met before while it lives, else 0; -1 for an error. */
static long long first_time(PyObject *seen, PyObject *storage) {
    PyObject *key = PyObject_GetAttr(storage, s_cdata), *kept = NULL, *bytes = NULL;
    if (key == NULL) return -1;
    PyObject *before = PyDict_GetItemWithError(seen, key);
    long long size = before == NULL && PyErr_Occurred() ? -1 : 0;
    int known = before != NULL && PyWeakref_Check(before) ? is_alive(before) : 0;
    if (known < 0) size = -1;
    if (size == 0 && known == 0) {
        size = -1;
        if ((kept = PyWeakref_NewRef(storage, NULL)) != NULL && PyDict_SetItem(seen, key, kept) == 0 &&
            (bytes = PyObject_CallMethodNoArgs(storage, s_nbytes)) != NULL)
            size = PyLong_AsLongLong(bytes);
    }
    Py_XDECREF(bytes);
    Py_XDECREF(kept);
    Py_DECREF(key);
    return size;
}

/* Add the storage of a tensor to a list; as `saved_by` answers. */
static int put_storage(PyObject *list, PyObject *tensor) {
    if (put(list, PyObject_CallMethodNoArgs(tensor, s_storage)) == 0) return 1;
    if (!PyErr_ExceptionMatches(PyExc_RuntimeError)) return -1;
    PyErr_Clear();  /* sparse, nested, transformed: none of its own */
    return 0;
}

/* SavedObserver._count: bytes met for the first time, or None where Python has to count. */
static PyObject *count_kept(PyObject *seen, PyObject *names, PyObject *nodes, PyObject *inputs) {
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
        long long size = first_time(seen, PyList_GET_ITEM(storages, place));
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

/* count_saved(seen, names, nodes, inputs) */
static PyObject *count_saved(PyObject *module, PyObject *args) {
    PyObject *seen, *names, *nodes, *inputs;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!O", &PyDict_Type, &seen, &PyDict_Type, &names, &PyList_Type, &nodes, &inputs))
        return NULL;
    return count_kept(seen, names, nodes, inputs);
}

/* 1 where no mode of the script would see tensors unpacked, 0 where one would, -1 for an error. */
static int is_unseen(void) {
    PyObject *modes = dispatch_modes == NULL ? new_ref(Py_True) : PyObject_CallNoArgs(dispatch_modes);
    int truth = modes == NULL ? -1 : PyObject_IsTrue(modes);
    Py_XDECREF(modes);
    return truth < 0 ? -1 : !truth;
}

/* What the nodes of an op keep: Tape._kept_by, without asking it where nobody counts, or a SavedObserver alone does. */
static PyObject *kept_by(Tape *self, PyObject *nodes, PyObject *inputs) {
    PyObject *saved = self->saved;
    if (saved != NULL && PyTuple_CheckExact(saved) && PyTuple_GET_SIZE(saved) == 0) return new_ref(small[0]);
    if (saved != NULL && PyTuple_CheckExact(saved) && PyTuple_GET_SIZE(saved) == 2 && !self->packed &&
        PyDict_CheckExact(PyTuple_GET_ITEM(saved, 0)) && PyDict_CheckExact(PyTuple_GET_ITEM(saved, 1))) {
        int unseen = is_unseen();
        PyObject *counted = unseen <= 0 ? NULL : count_kept(PyTuple_GET_ITEM(saved, 0), PyTuple_GET_ITEM(saved, 1),
                                                            nodes, inputs);
        if (counted != NULL && counted != Py_None) return counted;
        Py_XDECREF(counted);
        if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return NULL;
        PyErr_Clear();  /* Python meets the same fault, and reports it */
    }
    return PyObject_CallMethodObjArgs((PyObject *)self, s_kept_by, nodes, inputs, NULL);
}
