/* Objects that `gc.freeze()` has set aside are known to the garbage collector again, one by one.

   Python has `gc.unfreeze()` for all of them only. To stop and start tracking an object moves it to the youngest
   generation; both are functions of Python's stable interface. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define VERSION 1

static PyObject *thaw(PyObject *module, PyObject *objects) {
    (void)module;
    if (!PyList_CheckExact(objects)) {
        PyErr_SetString(PyExc_TypeError, "thaw(objects): a list");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(objects); i++) {
        PyObject *one = PyList_GET_ITEM(objects, i);
        if (PyObject_IS_GC(one) && PyObject_GC_IsTracked(one)) {
            PyObject_GC_UnTrack(one);
            PyObject_GC_Track(one);
        }
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"thaw", thaw, METH_O, "Make the garbage collector look at these objects again."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_set_aside", "What the garbage collector passes over.", -1, functions, NULL, NULL, NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__set_aside(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && PyModule_AddIntConstant(module, "VERSION", VERSION) < 0) Py_CLEAR(module);
    return module;
}
